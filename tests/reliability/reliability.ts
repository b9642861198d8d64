// npm run reliability: real faults, floods, large lists and restores, against the built site.
// npm run reliability -- WORD runs only the scenarios with the word in their name, and --ci those of .ci/run.
import { runScenarios, type Scenario } from "../support/scenarios.ts";
import { withStack } from "../support/stack.ts";
import { backUpAndRestore } from "./backups.ts";
import { databaseFaults, fillDisk } from "./database-faults.ts";
import { floods } from "./floods.ts";
import { kills } from "./kills.ts";
import { largeList } from "./large-list.ts";
import { metrics } from "./metrics.ts";
import { replicas } from "./replicas.ts";

if (process.platform !== "linux") throw new Error("These tests need Linux: they stop processes and read /proc.");

/** What a user would ask for first. Hosted CI runs all scenarios at night. */
const inCi = new Set([
  "Postgres is killed during bursts of sign-ups",
  "the site is killed during bursts of sign-ups",
  "the site shuts down under load (SIGTERM)",
  "the disk of Postgres is full, and that of the log",
  "a flood of sign-ups from many networks",
  "back up, erase 1,000 of 10,000 entries and restore: every other row returns",
]);

const ofOneSite = { ...kills, ...databaseFaults, ...floods, ...replicas, ...largeList, ...metrics };

const scenarios: Scenario[] = [
  ...Object.entries(ofOneSite).map(([name, use]) => ({ name, run: () => withStack(use) })),
  { name: "the disk of Postgres is full, and that of the log", run: fillDisk },
  { name: "back up, erase 1,000 of 10,000 entries and restore: every other row returns", run: backUpAndRestore },
];

const [word = ""] = process.argv.slice(2);
await runScenarios(scenarios.filter(({ name }) => (word === "--ci" ? inCi.has(name) : name.includes(word))));
