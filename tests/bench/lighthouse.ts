// npm run lighthouse: Lighthouse on the built site as phone and as desktop. Exits with 1 if the median of five runs is
// below 100 in a category, or if anything shifts.
import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { migrate } from "../../server/database/migrate.ts";
import { findChromium } from "../support/chromium.ts";
import { startPostgres } from "../support/postgres.ts";
import { median } from "./measure.ts";
import { startMeasuredSite } from "./servers.ts";

interface Report {
  categories: Record<string, { title: string; score: number | null }>;
  audits: Record<string, { numericValue?: number }>;
}

const run = promisify(execFile);
// The newest for Node 20. Not a dependency: it would be a fifth of the lock file.
const command = ["--yes", "lighthouse@12.8.2", "--quiet", "--output=json"];
const chromeFlags = "--chrome-flags=--headless=new --no-sandbox --disable-gpu";

const postgres = await startPostgres();
// The packaged one on Linux: this Lighthouse cannot trace the newest Chromium.
const { path, env } = await findChromium();
const options = { env: { ...process.env, ...env, ...(path && { CHROME_PATH: path }) }, maxBuffer: 2 ** 26 };
try {
  await migrate(postgres);
  const site = await startMeasuredSite(dirname(postgres.directory), postgres);
  for (const [device, ...preset] of [["phone"], ["desktop", "--preset=desktop"]] as const) {
    const figures: Record<string, number[]> = {};
    for (let round = 0; round < 5; round++) {
      const { stdout } = await run("npx", [...command, chromeFlags, ...preset, site.url], options);
      const { categories, audits } = JSON.parse(stdout) as Report;
      for (const { title, score } of Object.values(categories)) (figures[title] ??= []).push((score ?? 0) * 100);
      (figures.CLS ??= []).push(audits["cumulative-layout-shift"]?.numericValue ?? Infinity);
    }
    const medians = Object.entries(figures).map(([name, values]) => [name, median(values)] as const);
    process.stdout.write(`${device}: ${medians.map(([name, value]) => `${name} ${value}`).join(", ")}\n`);
    if (medians.every(([name, value]) => value === (name === "CLS" ? 0 : 100))) continue;
    process.stderr.write(`Lighthouse does not rate each category at 100 on this ${device}, or something shifts\n`);
    process.exitCode = 1;
  }
  await site.stop();
} finally {
  await postgres.release();
}
