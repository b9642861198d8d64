// Three projects of tests, all after a build: unit (no process, no database), process (site, worker, commands, Postgres) and browser.
import { configDefaults, defineConfig } from "vitest/config";

const common = {
  isolate: false, // Each worker loads a module once, not once per file.
  sequence: { groupOrder: 1 },
  setupFiles: "tests/support/console.ts",
  // Browsers, databases and servers are started for real; a test that hangs must still end.
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

/** Tests beside the code that need Postgres. */
const withPostgres = "server/**/*.db.test.ts";

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
          exclude: [...configDefaults.exclude, withPostgres],
          maxWorkers: 2, // No test waits, so more than processors would only load modules more often.
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...common,
          name: "process",
          include: ["tests/*.test.ts", "tests/process/*.test.ts", withPostgres],
        },
      },
      { test: { ...common, name: "browser", include: ["tests/browser/*.test.ts"] } },
    ],
  },
});
