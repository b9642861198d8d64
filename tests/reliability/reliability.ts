// npm run reliability: real faults, floods, large lists and restores, against the built site.
// npm run reliability -- WORD runs only the scenarios with the word in their name, and --ci those of .ci/run.
import { runScenarios } from "../support/scenarios.ts";
import { withStack, type StackScenarios } from "../support/stack.ts";
import { backUpAndRestore } from "./backup.ts";
import { keepErased } from "./erasures.ts";
import { faults } from "./faults.ts";
import { fullDisk } from "./full-disk.ts";
import { heavyClients } from "./heavy-clients.ts";
import { importWithSignUps } from "./import-with-sign-ups.ts";
import { kills } from "./kills.ts";
import { exportMillion, importMillion } from "./large-list.ts";
import { logFaults } from "./log-faults.ts";
import { checkMetrics } from "./metrics.ts";
import { replicas } from "./replicas.ts";
import { signupFloods } from "./signup-floods.ts";
import { slowClients } from "./slow-clients.ts";

if (process.platform !== "linux") throw new Error("These tests need Linux: they stop processes and read /proc.");

/** What a user would ask for first. Hosted CI runs all scenarios at night. */
const inCi = new Set([
  "Postgres is killed during bursts of sign-ups",
  "the site is killed during bursts of sign-ups",
  "the site shuts down under load (SIGTERM)",
  "Postgres' disk is full",
  "a flood of sign-ups from many networks",
  "erase 1,000 of 10,000 entries, restore older backups and import old files: none returns",
]);

const ofOneSite: StackScenarios = {
  ...faults,
  ...fullDisk,
  ...kills,
  ...replicas,
  ...slowClients,
  ...heavyClients,
  ...signupFloods,
  ...logFaults,
};

const scenarios = [
  ...Object.entries(ofOneSite).map(([name, run]) => ({
    name,
    run: (say: (text: string) => void) => withStack(say, run),
  })),
  { name: "export 1,000,000 entries, compared with psql \\copy and with a tenth of them", run: exportMillion },
  { name: "import 1,000,000 lines, compared with psql \\copy and with a tenth of them", run: importMillion },
  { name: "import 200,000 lines while people sign up", run: importWithSignUps },
  {
    name: "back up 10,000 entries with the script, restore them and compare all rows, then cause faults",
    run: backUpAndRestore,
  },
  { name: "erase 1,000 of 10,000 entries, restore older backups and import old files: none returns", run: keepErased },
  { name: "metrics, alerts and dashboard in Prometheus", run: checkMetrics },
];

const [word = ""] = process.argv.slice(2);
await runScenarios(scenarios.filter(({ name }) => (word === "--ci" ? inCi.has(name) : name.includes(word))));
