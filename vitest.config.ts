// Two projects of tests, both after a build: unit (no process, no database), and program (site, worker, commands, Postgres, browser).
import { configDefaults, defineConfig } from "vitest/config";

const common = {
  isolate: false, // Each worker loads a module once, not once per file.
  sequence: { groupOrder: 1 },
  setupFiles: "tests/support/console.ts",
  env: { TZ: "Pacific/Chatham" }, // The day there is often not the day in UTC.
  // Browsers, databases and servers are started for real, on a machine that may be busy. Each wait of a test has a limit of its own
  // that says what did not come; these are for what nobody thought of.
  testTimeout: 180_000,
  hookTimeout: 60_000,
};

/** Tests beside the code that need Postgres. */
const withPostgres = "server/**/*.db.test.ts";

/** Tests that need Linux: /proc, /dev/full, sh, setpriv, GNU's date, modes and owners of files, signals that a process handles, or symbolic links. */
const onLinux = [
  "tests/deploy-scripts.test.ts",
  "tests/browser/hot-reload.test.ts",
  "server/database/embedded/*.test.ts",
  "tests/process/{commands,documented,export,import,invite,outages,start,tls,waitlist,worker}.test.ts",
];

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
          maxWorkers: 2, // No test waits: more workers than processors would only load modules more often.
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...common,
          // One project: its files share their workers, and the longest of all begins first.
          name: "program",
          include: ["tests/*.test.ts", "tests/{process,browser}/*.test.ts", withPostgres],
          exclude: [...configDefaults.exclude, ...(process.platform === "linux" ? [] : onLinux)],
        },
      },
    ],
  },
});
