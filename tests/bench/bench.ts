// npm run bench: measures speed, memory and response times of the built site, as ratios to what Node and Postgres reach on
// this machine in the same run. Exits with 1 if a budget does not hold. --quick takes some minutes.
import { cpus } from "node:os";
import { dirname } from "node:path";
import { migrate } from "../../server/database/migrate.ts";
import { startPostgres } from "../support/postgres.ts";
import { measurePages, measureSignups, measureStart, type Bench } from "./measure.ts";
import { measureSecrecy } from "./secrecy.ts";
import { startMeasuredSite } from "./servers.ts";

if (process.platform !== "linux") throw new Error("The benchmark needs Linux: it reads /proc.");

const plan = process.argv.includes("--quick") ? { rounds: 4, seconds: 1 } : { rounds: 15, seconds: 2 };
const postgres = await startPostgres();
const folder = dirname(postgres.directory);
try {
  await migrate(postgres);
  const bench: Bench = { ...plan, database: postgres, folder };
  const site = await startMeasuredSite(folder, postgres);
  const rows = [
    ["", "Site", "Compared with", "Ratio", "Budget"],
    ["---", "---", "---", "---", "---"],
    ...(await measurePages(bench, site)),
    ...(await measureSignups(bench)),
    ...(await measureSecrecy(bench, site)),
    ...(await measureStart(bench, site)),
  ];
  await site.stop();
  process.stdout.write(rows.map((row) => `| ${row.join(" | ")} |\n`).join(""));
  // The budgets are for the image's Node: npx --package=node@24 -- npm run bench
  process.stdout.write(`${plan.rounds} rounds, Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}\n`);
  if (rows.some((row) => row.at(-1)?.endsWith("NOT MET"))) process.exitCode = 1;
} finally {
  await postgres.release();
}
