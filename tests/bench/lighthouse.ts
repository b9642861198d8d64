// npm run lighthouse: Lighthouse on the built site, as its phone and its desktop, and for a phone that goes straight to
// the form: five visits each for what blocks and shifts, and one for all audits. Exits with 1 where a category is below 100,
// where anything shifts, or where each of the five blocked.
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch } from "chrome-launcher";
import lighthouse, { desktopConfig, type Config, type Flags } from "lighthouse";
import { findChromium } from "../support/chromium.ts";
import { startPostgres } from "../support/postgres.ts";
import { startSite } from "./measure.ts";

interface Visit {
  name: string;
  url: string;
  flags?: Flags;
  config?: Config;
  /** All categories as well: they need a largest paint, which a page that scrolls by itself has not. */
  whole: boolean;
  /** Total blocking time of each visit, in milliseconds. */
  blocking: number[];
  shifts: number[];
}

const metrics = [
  "first-contentful-paint",
  "largest-contentful-paint",
  "total-blocking-time",
  "cumulative-layout-shift",
];

async function audit(port: number, { url, flags, config }: Visit, more?: Flags) {
  const result = await lighthouse(url, { port, logLevel: "error", ...flags, ...more }, config);
  if (!result) throw new Error(`Lighthouse found nothing at ${url}`);
  return result.lhr;
}

const empty = createServer((_request, response) => {
  response.setHeader("Content-Type", "text/html");
  response.end('<!doctype html><meta name="viewport" content="width=device-width"><title>Empty</title><h1>Empty</h1>');
}).listen(0, "127.0.0.1");
const postgres = await startPostgres();
const folder = mkdtempSync(join(tmpdir(), "perennial-lighthouse-"));
const { path, env } = await findChromium();
// Lighthouse's own launcher: a browser that something else drives as well is busy with that, too.
const browser = await launch({
  chromePath: path,
  chromeFlags: ["--headless=new", "--no-sandbox", "--disable-gpu"],
  envVars: { ...process.env, ...env },
});
try {
  const site = await startSite({ folder }, postgres);
  const visits: Visit[] = [
    { name: "phone", url: `${site.url}/`, whole: true, blocking: [], shifts: [] },
    { name: "desktop", url: `${site.url}/`, config: desktopConfig, whole: true, blocking: [], shifts: [] },
    {
      name: "phone, to the form",
      url: `${site.url}/#early-access`,
      // Nothing to simulate from, either: the slow phone is imitated for real.
      flags: { throttlingMethod: "devtools" },
      whole: false,
      blocking: [],
      shifts: [],
    },
  ];
  // What the machine and the browser need by themselves: a page with one word, as phone.
  const control: Visit = {
    name: "phone, empty page",
    url: `http://127.0.0.1:${(empty.address() as AddressInfo).port}`,
    whole: false,
    blocking: [],
    shifts: [],
  };
  // Metrics alone: what the other audits watch, as which code runs, slows the page while it loads.
  for (let round = 0; round < 5; round++) {
    for (const visit of [...visits, control]) {
      const { audits } = await audit(browser.port, visit, { onlyAudits: metrics });
      visit.blocking.push(Math.round(audits["total-blocking-time"]?.numericValue ?? Infinity));
      visit.shifts.push(audits["cumulative-layout-shift"]?.numericValue ?? Infinity);
    }
  }
  for (const visit of [...visits, control]) {
    const { name, blocking, shifts } = visit;
    // What else the machine does only ever adds to the time that blocks; what the page does shows in each visit.
    const still = Math.min(...blocking) === 0 && Math.max(...shifts) === 0;
    blocking.sort((a, b) => a - b);
    const figures = [`TBT ${blocking.join(", ")} ms`, `CLS ${Math.max(...shifts)}`];
    let perfect = still || visit === control;
    if (visit.whole) {
      const { categories, audits } = await audit(browser.port, visit);
      const scores = Object.values(categories);
      figures.push(...scores.map(({ title, score }) => `${title} ${Math.round((score ?? 0) * 100)}`));
      figures.push(...metrics.map((id) => `${audits[id]?.title} ${audits[id]?.displayValue}`));
      perfect &&= scores.every(({ score }) => score === 1);
    }
    process.stdout.write(`${name.padEnd(20)}${figures.join(", ")}${perfect ? "" : "  NOT PERFECT"}\n`);
    if (!perfect) process.exitCode = 1;
  }
  await site.stop();
} finally {
  browser.kill();
  empty.close();
  await postgres.release();
  rmSync(folder, { recursive: true, force: true });
}
