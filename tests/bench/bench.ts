// npm run bench: measures speed, memory and size of the built site, as ratios to what Node and Postgres reach on this
// machine in the same run. Exits with 1 if a budget does not hold. --quick takes about a minute.
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../support/postgres.ts";
import { printTable, startProgress } from "../support/scenarios.ts";
import { measurePages, measureSignups, measureStart, measureWeight, type Bench } from "./measure.ts";
import { measureSecrecy } from "./secrecy.ts";
import { nodeVersion, startMeasuredSite } from "./servers.ts";

if (process.platform !== "linux") throw new Error("The benchmark needs Linux: it reads /proc.");

const plan = process.argv.includes("--quick")
  ? { rounds: 4, seconds: 1, entries: [0] }
  : { rounds: 15, seconds: 2, entries: [0, 1_000_000, 10_000_000] };
const postgres = await startPostgres();
const folder = mkdtempSync(join(tmpdir(), "perennial-bench-"));
try {
  const bench: Bench = { ...plan, postgres, folder, say: startProgress() };
  const site = await startMeasuredSite(folder, postgres);
  const rows = [
    ...(await measurePages(bench, site)),
    ...(await measureSignups(bench)),
    ...(await measureSecrecy(bench, site)),
    await measureStart(bench, postgres, site),
    ...(await measureWeight(site)),
  ];
  await site.stop();
  printTable([
    ["", "Site", "Compared with", "Ratio", "Spread", "Budget"],
    ...rows.map(({ what, ours, reference = "", ratio, budget }) => [
      what,
      ours,
      reference,
      ratio?.median.toFixed(2) ?? "",
      ratio ? `±${(ratio.spread * 100).toFixed()} %` : "",
      budget ? `${budget.text} ${budget.holds ? "met" : "NOT MET"}` : "",
    ]),
  ]);
  process.stdout.write(
    `Medians of ${plan.rounds} rounds, Node ${nodeVersion}, ${cpus().length} × ${cpus()[0]?.model}\n`,
  );
  if (rows.some(({ budget }) => budget?.holds === false)) process.exitCode = 1;
} finally {
  await postgres.release();
  rmSync(folder, { recursive: true });
}
