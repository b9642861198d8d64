// npm run test:ops: the operator's commands on large lists, a backup and its restore, metrics in a real Prometheus, webhooks.
// npm run test:ops -- WORD runs only the scenarios with the word in their name.
import { runScenarios } from "../support/scenarios.ts";
import { backUpAndRestore } from "./backup.ts";
import { keepErased } from "./erasures.ts";
import { importWithSignUps } from "./import-with-sign-ups.ts";
import { inviteMany } from "./invite.ts";
import { exportMillion, importMillion } from "./large-list.ts";
import { checkMetrics } from "./metrics.ts";
import { checkWebhooks } from "./webhooks.ts";
import { migrateSharedDatabase } from "./shared-database.ts";

if (process.platform !== "linux") throw new Error("These tests need Linux: they read a process' memory from /proc.");

await runScenarios([
  { name: "export 1,000,000 entries, compared with psql \\copy and with a tenth of them", run: exportMillion },
  { name: "import 1,000,000 lines, compared with psql \\copy and with a tenth of them", run: importMillion },
  { name: "import 200,000 lines while people sign up", run: importWithSignUps },
  { name: "invite 100,000 of 1,000,000 entries, and stats of them with 1,000,000 rows of views", run: inviteMany },
  {
    name: "back up 10,000 entries with the script, restore them and compare all rows, then cause faults",
    run: backUpAndRestore,
  },
  { name: "erase 1,000 of 10,000 entries, restore older backups and import old files: none returns", run: keepErased },
  {
    name: "migrate a database that another application uses, and compare it before and after",
    run: migrateSharedDatabase,
  },
  { name: "metrics, alerts and dashboard in Prometheus", run: checkMetrics },
  { name: "webhooks while the receiver, the worker and Postgres fail", run: checkWebhooks },
]);
