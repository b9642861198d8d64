// npm run bench: how fast, light and small the built site is, as ratios to what Node and Postgres can do on this
// machine in the same minutes. Exits with 1 where a budget does not hold. --quick takes less than a minute.
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { generator } from "./processes.ts";
import { startPostgres } from "../support/postgres.ts";
import { measurePages, measureSignups, measureStart, measureWeight, startSite, type Bench } from "./measure.ts";
import { measureRefusals } from "./refusals.ts";
import { measureSecrecy } from "./secrecy.ts";
import { isBroken, percent, printTable } from "./table.ts";

if (process.platform !== "linux") throw new Error("The benchmark reads /proc, which only Linux has.");

const plan = process.argv.includes("--quick")
  ? { rounds: 4, seconds: 1, starts: 5, rows: [0] }
  : { rounds: 15, seconds: 2, starts: 15, rows: [0, 1_000_000, 10_000_000] };

const began = performance.now();
const say = (text: string) =>
  process.stderr.write(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${text}\n`);

say("starting Postgres and the site");
const postgres = await startPostgres();
const folder = mkdtempSync(join(tmpdir(), "perennial-bench-"));
try {
  const bench: Bench = { plan, postgres, folder, say };
  const site = await startSite(bench, postgres);
  const pages = await measurePages(bench, site);
  const rows = [
    ...pages.rows,
    ...(await measureRefusals(bench)),
    ...(await measureSignups(bench)),
    ...(await measureSecrecy(bench)),
    ...(await measureStart(bench, site)),
    ...(await measureWeight(site)),
  ];
  await site.stop();
  printTable(rows);
  process.stdout.write(
    `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}; load by ${generator}; the machine's own noise was ${percent(pages.noise)}.\n`,
  );
  const broken = rows.filter(isBroken);
  if (broken.length > 0) {
    process.stderr.write(`Budgets that do not hold: ${broken.map(({ what }) => what).join("; ")}\n`);
    process.exitCode = 1;
  }
} finally {
  await postgres.release();
  rmSync(folder, { recursive: true, force: true });
}
