// npm run reliability: real faults, floods, large lists and restores, against the built site.
// npm run reliability -- WORD runs only the scenarios with the word in their name, and --ci those of .ci/run.
import { inspect } from "node:util";
import { withStack } from "../support/stack.ts";
import { backUpAndRestore } from "./backups.ts";
import { databaseFaults, fillDisk } from "./database-faults.ts";
import { floods } from "./floods.ts";
import { kills } from "./kills.ts";
import { largeList } from "./large-list.ts";
import { mailings, mailThroughFaults, restoreMailings } from "./mailings.ts";
import { migrateThroughPoolers } from "./poolers.ts";

if (process.platform !== "linux") throw new Error("These tests need Linux: they stop processes and read /proc.");

/** The scenarios that matter most to users. Hosted CI runs all scenarios at night. */
const inCi = new Set([
  "the site is killed during bursts of sign-ups",
  "a backend of Postgres is killed while the site stands still and the disk is slow",
  "the site shuts down under load (SIGTERM)",
  "the disk of Postgres is full, and that of the log",
  "a flood of sign-ups and slow bodies from many networks",
  "back up, erase 1,000 of 10,000 entries and restore: every other row returns",
]);

const ofOneSite = { ...kills, ...databaseFaults, ...floods, ...largeList, ...mailings };

/** Each returns its measurements, in a few words for the table, and throws if a check fails. */
const scenarios: Record<string, () => Promise<string>> = {
  ...Object.fromEntries(Object.entries(ofOneSite).map(([name, use]) => [name, () => withStack(use)])),
  "the disk of Postgres is full, and that of the log": fillDisk,
  "back up, erase 1,000 of 10,000 entries and restore: every other row returns": backUpAndRestore,
  "a mailing while Postgres crashes, is read-only and has a full disk": mailThroughFaults,
  "restore a backup from before a mailing: nobody gets it again": restoreMailings,
  "one and eight owners migrate an empty database through PgBouncer": migrateThroughPoolers,
};

const [word = ""] = process.argv.slice(2);
const rows = [
  ["Scenario", "Result", "Duration"],
  ["---", "---", "---"],
];
for (const [name, run] of Object.entries(scenarios)) {
  if (word === "--ci" ? !inCi.has(name) : !name.includes(word)) continue;
  process.stderr.write(`${name}\n`);
  const began = performance.now();
  const result = await run().catch((error: unknown) => {
    process.exitCode = 1;
    process.stderr.write(`${inspect(error).slice(0, 4_000)}\n`);
    return "FAILED";
  });
  const duration = `${((performance.now() - began) / 1000).toFixed()} s`;
  process.stderr.write(`    ${result} (${duration})\n`);
  rows.push([name, result, duration]);
}
if (rows.length === 2) throw new Error("No scenario has this word in its name.");
process.stdout.write(rows.map((row) => `| ${row.join(" | ")} |\n`).join(""));
