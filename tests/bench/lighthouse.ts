// npm run lighthouse: Lighthouse on the built site, as its phone and its desktop, and for a phone that goes straight to
// the form: of five visits each the one that blocked least. Exits with 1 where a category is below 100, or where anything
// blocks or shifts.
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
  results: Result[];
}

interface Result {
  line: string;
  /** In milliseconds. */
  blocking: number;
  perfect: boolean;
}

const metrics = {
  "first-contentful-paint": "FCP",
  "largest-contentful-paint": "LCP",
  "total-blocking-time": "TBT",
  "cumulative-layout-shift": "CLS",
};

async function audit(port: number, { url, flags, config }: Visit): Promise<Result> {
  const result = await lighthouse(url, { port, logLevel: "error", ...flags }, config);
  if (!result) throw new Error(`Lighthouse found nothing at ${url}`);
  const { categories, audits } = result.lhr;
  const whole = flags?.onlyAudits ? [] : Object.values(categories);
  const scores = whole.map(({ title, score }) => `${title} ${Math.round((score ?? 0) * 100)}`);
  const times = Object.entries(metrics).flatMap(([id, label]) => {
    const shown = audits[id]?.displayValue;
    return shown ? [`${label} ${shown}`] : [];
  });
  const blocking = Math.round(audits["total-blocking-time"]?.numericValue ?? Infinity);
  const still = blocking === 0 && audits["cumulative-layout-shift"]?.numericValue === 0;
  return {
    line: [...scores, ...times].join(", "),
    blocking,
    perfect: still && whole.every(({ score }) => score === 1),
  };
}

const empty = createServer((_request, response) => {
  response.setHeader("Content-Type", "text/html");
  response.end('<!doctype html><meta name="viewport" content="width=device-width"><title>Empty</title><h1>Empty</h1>');
}).listen(0, "127.0.0.1");
const postgres = await startPostgres();
const folder = mkdtempSync(join(tmpdir(), "perennial-lighthouse-"));
try {
  const site = await startSite({ folder }, postgres);
  const { path, env } = await findChromium();
  // Lighthouse's own launcher: a browser that something else drives as well is busy with that, too.
  const browser = await launch({
    chromePath: path,
    chromeFlags: ["--headless=new", "--no-sandbox", "--disable-gpu"],
    envVars: { ...process.env, ...env },
  });
  const blockingOnly = ["total-blocking-time", "cumulative-layout-shift"];
  const visits: Visit[] = [
    { name: "phone", url: `${site.url}/`, results: [] },
    { name: "desktop", url: `${site.url}/`, config: desktopConfig, results: [] },
    {
      name: "phone, to the form",
      url: `${site.url}/#early-access`,
      // A page that scrolls by itself has no largest paint to simulate from: the slow phone is imitated for real.
      flags: { throttlingMethod: "devtools", onlyAudits: blockingOnly },
      results: [],
    },
  ];
  // What the machine and the browser alone need: a page with one word, as phone.
  const control: Visit = {
    name: "phone, empty page",
    url: `http://127.0.0.1:${(empty.address() as AddressInfo).port}`,
    flags: { onlyAudits: blockingOnly },
    results: [],
  };
  for (let round = 0; round < 5; round++) {
    for (const visit of [...visits, control]) visit.results.push(await audit(browser.port, visit));
  }
  for (const { name, results } of [...visits, control]) {
    // What else the machine does, and the browser with itself, only ever adds; what the page does shows in each visit.
    const [least] = results.sort((a, b) => a.blocking - b.blocking) as [Result];
    const all = results.map(({ blocking }) => blocking).join(", ");
    const perfect = name === control.name || least.perfect;
    process.stdout.write(
      `${name.padEnd(20)}${least.line} (TBT of all visits: ${all})${perfect ? "" : "  NOT PERFECT"}\n`,
    );
    if (!perfect) process.exitCode = 1;
  }
  browser.kill();
  await site.stop();
} finally {
  empty.close();
  await postgres.release();
  rmSync(folder, { recursive: true, force: true });
}
