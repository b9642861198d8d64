// npm run test:ops: the operator's commands on large lists, a backup that is restored, metrics in a real Prometheus, and notices.
// A line for each step, a table at the end, exit code 1 where something does not hold. -- WORD runs only those with the word in their name.
import { runSteps } from "../support/steps.ts";
import { backupSteps } from "./backup.ts";
import { importWithSignUps } from "./import-with-sign-ups.ts";
import { largeListSteps } from "./large-list.ts";
import { checkMetrics } from "./metrics.ts";
import { checkNotices } from "./notices.ts";
import { sharedDatabaseStep } from "./shared-database.ts";

if (process.platform !== "linux") throw new Error("These tests read a process' memory from /proc, as Linux has it.");

await runSteps("What is done", [
  ...largeListSteps,
  { name: "import 200,000 lines while people sign up", run: importWithSignUps },
  ...backupSteps,
  sharedDatabaseStep,
  { name: "metrics, alerts and dashboard", run: checkMetrics },
  { name: "notices", run: checkNotices },
]);
