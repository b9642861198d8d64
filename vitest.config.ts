// Runs every test: those beside the code, and those of the whole product under tests/.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["server/**/*.test.ts", "client/**/*.test.ts", "tests/**/*.test.ts"],
    globalSetup: "tests/support/global-setup.ts",
    setupFiles: "tests/support/console.ts",
    // Most files start databases, servers and browsers of their own; more at once exceed the deadlines of the site itself.
    maxWorkers: 4,
    // Browsers, databases and servers are started for real; a test that hangs must still end.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
