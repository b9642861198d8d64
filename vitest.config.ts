// Runs every test: those beside the code, and those of the whole product under tests/.
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["server/**/*.test.ts", "client/**/*.test.ts", "tests/**/*.test.ts"],
    globalSetup: "tests/support/global-setup.ts",
    setupFiles: "tests/support/console.ts",
    // The tests wait for processes twice as long as they compute.
    maxWorkers: 2 * availableParallelism(),
    // Browsers, databases and servers are started for real; a test that hangs must still end.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
