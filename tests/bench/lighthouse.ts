// npm run lighthouse: Lighthouse on the built site as phone and as desktop. Exits with 1 if the median of five runs is
// below 100 in a category, or if anything shifts.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch } from "chrome-launcher";
import lighthouse, { desktopConfig } from "lighthouse";
import { findChromium } from "../support/chromium.ts";
import { startPostgres } from "../support/postgres.ts";
import { startMeasuredSite } from "./servers.ts";
import { summarise } from "./statistics.ts";

const promise = "Lighthouse rates each category at 100, and nothing shifts";
const postgres = await startPostgres();
const folder = mkdtempSync(join(tmpdir(), "perennial-lighthouse-"));
const { path, env } = await findChromium();
const browser = await launch({
  chromePath: path,
  chromeFlags: ["--headless=new", "--no-sandbox", "--disable-gpu"],
  envVars: { ...process.env, ...env },
});
try {
  const site = await startMeasuredSite(folder, postgres);
  for (const [device, config] of [["phone"], ["desktop", desktopConfig]] as const) {
    const figures: Record<string, number[]> = {};
    for (let round = 0; round < 5; round++) {
      const result = await lighthouse(site.url, { port: browser.port, logLevel: "error" }, config);
      if (!result) throw new Error(`Lighthouse found nothing at ${site.url}`);
      const { categories, audits } = result.lhr;
      for (const { title, score } of Object.values(categories)) (figures[title] ??= []).push((score ?? 0) * 100);
      for (const [unit, id] of [
        ["LCP in ms", "largest-contentful-paint"],
        ["TBT in ms", "total-blocking-time"],
        ["CLS", "cumulative-layout-shift"],
      ] as const)
        (figures[unit] ??= []).push(audits[id]?.numericValue ?? Infinity);
    }
    const medians = Object.entries(figures).map(([name, values]) => [name, summarise(values).median] as const);
    process.stdout.write(`${device}: ${medians.map(([name, median]) => `${name} ${Math.round(median)}`).join(", ")}\n`);
    const isPerfect = medians.every(
      ([name, median]) => name.endsWith(" in ms") || median === (name === "CLS" ? 0 : 100),
    );
    if (isPerfect) continue;
    process.stderr.write(`${promise}: not on this ${device}\n`);
    process.exitCode = 1;
  }
  await site.stop();
} finally {
  browser.kill();
  await postgres.release();
  rmSync(folder, { recursive: true });
}
