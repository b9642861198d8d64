// Three projects of tests: unit (no process, no database), process (site, worker, commands, Postgres) and browser.
import { configDefaults, defineConfig } from "vitest/config";

const common = {
  setupFiles: "tests/support/console.ts",
  // Browsers, databases and servers are started for real; a test that hangs must still end.
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

/** Tests beside the code that need Postgres or a process. */
const ofDatabase = ["server/database/**", "server/worker/worker.test.ts"];

export default defineConfig({
  test: {
    globalSetup: "tests/support/global-setup.ts",
    // Most files start databases, servers and browsers of their own; more at once exceed the deadlines of the site itself.
    maxWorkers: 4,
    projects: [
      {
        test: {
          ...common,
          name: "unit",
          include: ["server/**/*.test.ts", "client/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...ofDatabase],
          isolate: false,
        },
      },
      { test: { ...common, name: "process", include: ["tests/*.test.ts", "tests/process/*.test.ts", ...ofDatabase] } },
      { test: { ...common, name: "browser", include: ["tests/browser/*.test.ts"] } },
    ],
  },
});
