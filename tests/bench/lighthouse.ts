// npm run lighthouse: Lighthouse on the built site as phone and as desktop. Exits with 1 if the median of five runs is
// below 100 in a category, or if anything shifts.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch } from "chrome-launcher";
import lighthouse, { desktopConfig } from "lighthouse";
import { findChromium } from "../support/chromium.ts";
import { startPostgres } from "../support/postgres.ts";
import { median } from "./measure.ts";
import { startMeasuredSite } from "./servers.ts";

const postgres = await startPostgres();
const folder = mkdtempSync(join(tmpdir(), "perennial-lighthouse-"));
const { path, env } = await findChromium();
const browser = await launch({
  ...(path && { chromePath: path }),
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
  browser.kill();
  await postgres.release();
  rmSync(folder, { recursive: true });
}
