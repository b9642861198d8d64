// The counters of requests and sign-ups, and their privacy.
import { request as send } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { killedAfterEach } from "../support/killed-after-each.ts";
import { ask, json, signUp, startMeasuredSite, type MeasuredSite } from "../support/metrics.ts";
import { openWire } from "../support/tcp-proxy.ts";
import { until } from "../support/until.ts";

const ada = { name: "Ada", email: "ada@example.com", company: "Engines" };

let database: TestDatabase;
const sites = killedAfterEach();

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

beforeEach(() => database.query("TRUNCATE earlyaccess"));

async function start(env: Record<string, string> = {}): Promise<MeasuredSite> {
  const site = await startMeasuredSite({ env: { DATABASE_URL: database.webUrl, ...env } });
  sites.push(site);
  return site;
}

/** Returns the labels and values of a counter, without zeros. */
async function counts(site: MeasuredSite, name: string): Promise<Record<string, number>> {
  const all = [...(await site.metrics())].filter(([key, value]) => key.startsWith(`${name}{`) && value !== 0);
  return Object.fromEntries(all.map(([key, value]) => [key.slice(name.length + 1, -1).replaceAll('"', ""), value]));
}

describe("requests", () => {
  it("are counted by method, route and status, and timed", async () => {
    const site = await start();
    const script = /\/assets\/[\w-]+\.js/.exec(await (await fetch(site.url)).text())?.[0] as string;
    await ask(site, "HEAD", "/?joined");
    await ask(site, "GET", script);
    await ask(site, "GET", "/favicon.ico");
    await ask(site, "GET", "/nowhere");
    await ask(site, "GET", "/api/nothing");
    await ask(site, "POST", "/");
    await ask(site, "POST", "/favicon.ico");
    await ask(site, "OPTIONS", "/api/earlyaccess");
    await ask(site, "GET", "/healthz");
    await ask(site, "GET", "/readyz");
    await signUp(site, ada);
    expect(await counts(site, "http_requests_total")).toEqual({
      "method=GET,route=/,status=200": 1,
      "method=HEAD,route=/,status=200": 1,
      "method=GET,route=asset,status=200": 1,
      "method=GET,route=file,status=200": 1,
      "method=GET,route=not found,status=404": 2,
      "method=POST,route=/,status=405": 1,
      "method=POST,route=other,status=405": 1,
      "method=other,route=/api/earlyaccess,status=405": 1,
      "method=GET,route=/healthz,status=200": 1,
      "method=GET,route=/readyz,status=200": 1,
      "method=POST,route=/api/earlyaccess,status=201": 1,
    });
    expect(await counts(site, "http_request_duration_seconds_count")).toMatchObject({ "route=/": 3, "route=file": 1 });
    const seconds = (await counts(site, "http_request_duration_seconds_sum"))["route=/api/earlyaccess"] as number;
    expect(seconds).toBeGreaterThan(0.0005);
    expect(seconds).toBeLessThan(5);
  });

  it("add no labels from their path, method or body", async () => {
    const site = await start();
    const probe = async (salt: string) => {
      const path = `unmistakable-path-${salt}`; // Not the word of the body, because the log contains paths.
      for (const address of [`/${path}`, `/assets/${path}.js`, `/${path}@example.com?${path}`, `/api/${path}`]) {
        for (const method of ["GET", "POST", "PURGE"]) await ask(site, method, address, { "User-Agent": path });
      }
      const secret = `unmistakable-field-${salt}`;
      await signUp(site, { ...ada, name: secret, email: `${secret}@example.com` }, { Referer: `http://${secret}/` });
      await signUp(site, { ...ada, email: secret });
      expect(await (await fetch(site.metricsUrl)).text()).not.toMatch(/unmistakable|example\.com|127\.0\.0\.1|PURGE/i);
      return [...(await site.metrics()).keys()].filter((key) => /^(http|perennial)_/.test(key));
    };
    const known = await probe("first");
    expect(known).toContain('http_requests_total{method="other",route="not found",status="404"}');
    expect(await probe("second")).toEqual(known);
  });

  it("are counted as aborted if the client disconnects before the response", async () => {
    const site = await start();
    const lock = `LOCK TABLE earlyaccess IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(1)`;
    const locked = database.query(`BEGIN; ${lock}; COMMIT`);
    const request = send(`${site.url}/api/earlyaccess`, { method: "POST", headers: json });
    request.on("error", () => undefined).end(JSON.stringify(ada));
    setTimeout(() => request.destroy(), 300);
    await locked;
    const aborted = { "method=POST,route=/api/earlyaccess,status=aborted": 1 };
    await expect.poll(() => counts(site, "http_requests_total")).toEqual(aborted);
  });
});

describe("sign-ups", () => {
  it("are counted as joined or repeated, and by flag", async () => {
    const site = await start();
    await signUp(site, ada);
    await signUp(site, ada);
    await signUp(site, { ...ada, email: "ADA@example.com" });
    await signUp(site, { ...ada, email: "bot@example.com", message: "Buy this" });
    await signUp(site, { ...ada, email: "gone@mailinator.com" });
    expect(await counts(site, "perennial_signups_total")).toEqual({ "outcome=joined": 3, "outcome=repeated": 2 });
    expect(await counts(site, "perennial_signups_flagged_total")).toEqual({
      "flag=suspected_spam": 1,
      "flag=disposable_email": 1,
    });
    const full = await start({ SIGNUP_HOURLY_CEILING: "1" });
    await signUp(full, { ...ada, email: "first@example.com" });
    await signUp(full, { ...ada, email: "second@example.com" });
    expect(await counts(full, "perennial_signups_flagged_total")).toEqual({ "flag=unusual_volume": 1 });
  });

  it("are counted as unavailable during a database outage, which the readiness and pool gauges show too", async () => {
    const wire = await openWire(database.webUrl);
    const site = await start({ DATABASE_URL: wire.url(database.webUrl), SIGNUP_LIMIT: "100000" });
    await signUp(site, ada);
    const good = await site.metrics();
    expect(good.get("perennial_ready{}")).toBe(1);
    // The first readiness check, at the start, may have opened a second one.
    expect([1, 2]).toContain(good.get('perennial_database_connections{state="idle"}'));
    expect(good.get("perennial_database_connections_max{}")).toBe(10);
    wire.stall();
    const stalled: Promise<number>[] = [];
    // Sign-ups of one turn of the event loop share a connection, and each gives up after some time.
    const arriving = setInterval(() => stalled.push(signUp(site, ada)), 20);
    await until("sign-ups hold every connection, and others wait", async () => {
      const taken = await site.metrics();
      const used = taken.get('perennial_database_connections{state="used"}');
      return used === 10 && (taken.get("perennial_database_waiting{}") ?? 0) > 0;
    }).finally(() => clearInterval(arriving));
    expect(new Set(await Promise.all(stalled))).toEqual(new Set([503]));
    const bad = await site.metrics();
    expect(bad.get("perennial_ready{}")).toBe(0);
    const responses = await counts(site, "http_requests_total");
    expect(responses["method=POST,route=/api/earlyaccess,status=503"]).toBeGreaterThan(0);
    await wire.mend();
    await wire.cut();
  });
});
