// The metrics of the site: their counts and their privacy.
import { expect, it, onTestFinished } from "vitest";
import { freePort } from "../../server/database/embedded/free-port.ts";
import { ada, signUp, startSite } from "../support/site.ts";
import { createMailFixture } from "../support/worker.ts";

const mails = createMailFixture();

async function start(env: Record<string, string> = {}) {
  const port = await freePort();
  const site = await startSite({ env: { DATABASE_URL: mails.database.webUrl, METRICS_PORT: `${port}`, ...env } });
  onTestFinished(() => void site.process.kill("SIGKILL"));
  return { ...site, metricsUrl: `http://127.0.0.1:${port}/metrics` };
}

/** Returns the samples of Prometheus' text format, by name and labels. */
async function scrape(url: string): Promise<Record<string, number>> {
  const response = await fetch(url);
  expect(response.headers.get("Content-Type")).toMatch(/^text\/plain; version=0\.0\.4/); // Prometheus 3 requires it.
  const samples = (await response.text()).matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm);
  return Object.fromEntries(
    Array.from(samples, ([, name, labels, value]) => [
      labels ? `${name} ${labels.replaceAll('"', "")}` : name,
      Number(value),
    ]),
  );
}

/** Returns the labels and values of a counter, without zeros. */
async function counts({ metricsUrl }: { metricsUrl: string }, name: string): Promise<Record<string, number>> {
  const samples = Object.entries(await scrape(metricsUrl));
  const own = samples.filter(([key, value]) => key.startsWith(`${name} `) && value !== 0);
  return Object.fromEntries(own.map(([key, value]) => [key.slice(name.length + 1), value]));
}

it("the metrics have a port of their own, count requests by route and status, and sign-ups by outcome", async () => {
  const site = await start();
  const script = /\/assets\/[\w-]+\.js/.exec(await (await fetch(site.url)).text())?.[0] as string;
  for (const path of [script, "/favicon.ico", "/metrics", "/healthz"]) await fetch(site.url + path);
  await fetch(`${site.url}/api/earlyaccess`, { method: "OPTIONS" });
  for (const change of [{}, { email: "ADA@example.com" }, { email: "bot@example.com" }, { email: "no address" }]) {
    await signUp(site, { ...ada, ...change });
  }
  for (const path of ["/confirm", "/leave", "/api/view", "/readyz"]) {
    await fetch(`${site.url}${path}?token=${"a".repeat(32)}`, { method: "POST" });
  }
  await expect
    .poll(() => counts(site, "http_requests_total"))
    .toEqual({
      "route=/,status=200": 1,
      "route=other,status=200": 2,
      "route=other,status=404": 1,
      "route=/healthz,status=200": 1,
      "route=/api/earlyaccess,status=405": 1,
      "route=/api/earlyaccess,status=201": 3,
      "route=/api/earlyaccess,status=422": 1,
      "route=/confirm,status=200": 1,
      "route=/leave,status=200": 1,
      "route=/api/view,status=204": 1,
      "route=/readyz,status=404": 1, // It takes no POST.
    });
  expect(await counts(site, "perennial_signups_total")).toEqual({ "outcome=added": 2, "outcome=repeated": 1 });
  const found = await scrape(site.metricsUrl);
  // Each series of an alert starts at 0: an increase misses an event that begins a series.
  for (const status of [500, 503]) {
    expect(found).toHaveProperty([`http_requests_total route=/api/earlyaccess,status=${status}`], 0);
  }
  expect(found).toHaveProperty("perennial_ready", 1);
  expect(found).toHaveProperty("process_resident_memory_bytes");
});

it("the metrics have no labels from the path, method or body of a request", async () => {
  const site = await start();
  const probe = async (salt: string) => {
    const secret = `unmistakable-${salt}`;
    for (const path of [`/${secret}`, `/assets/${secret}.js`, `/${secret}@example.com?${secret}`, `/api/${secret}`]) {
      for (const method of ["GET", "PURGE"]) {
        await fetch(site.url + path, { method, headers: { "User-Agent": secret } });
      }
    }
    await signUp(site, { ...ada, name: secret, email: `${secret}@example.com` }, { Referer: `http://${secret}/` });
    await signUp(site, { ...ada, email: secret });
    return Object.keys(await scrape(site.metricsUrl)).filter((key) => /^(http|perennial)_/.test(key));
  };
  const known = await probe("first");
  expect(known).toContain("http_requests_total route=other,status=404");
  expect(known.join("\n")).not.toMatch(/unmistakable|example\.com|127\.0\.0\.1|PURGE/i);
  expect(await probe("second")).toEqual(known);
});
