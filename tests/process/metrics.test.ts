// The metrics server: off by default, and on its own port.
import { once } from "node:events";
import { mkdtemp, readdir, readFile, readlink, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createPool } from "../../server/database/connect.ts";
import { createMetrics } from "../../server/metrics.ts";
import { noDatabase } from "../support/app.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { freePort } from "../../server/http/listen.ts";
import { killedAfterEach } from "../support/killed-after-each.ts";
import { ask, startMeasuredSite, type MeasuredSite } from "../support/metrics.ts";
import { startSite, type Site } from "../support/site.ts";

let database: TestDatabase;
const sites = killedAfterEach();

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

async function start(env: Record<string, string> = {}): Promise<MeasuredSite> {
  const site = await startMeasuredSite({ env: { DATABASE_URL: database.webUrl, ...env } });
  sites.push(site);
  return site;
}

it.runIf(process.platform === "linux")("the site opens a second port only if METRICS_PORT is set", async () => {
  const off = await startSite({ env: { DATABASE_URL: database.webUrl } });
  sites.push(off);
  const on = await start();
  expect(await openPorts(off)).toHaveLength(1);
  expect(await openPorts(on)).toHaveLength(2);
});

it("the site loads the metrics library only if METRICS_PORT is set", async () => {
  expect(await loadedCode({})).not.toContain("nodejs_eventloop_lag");
  expect(await loadedCode({ METRICS_PORT: String(await freePort()) })).toContain("nodejs_eventloop_lag");
});

it("the metrics server returns 200 for GET and HEAD of /metrics and 404 for every other request", async () => {
  const site = await start();
  const own = { url: new URL(site.metricsUrl).origin };
  const statuses = await Promise.all([
    ask(own, "GET", "/metrics"),
    ask(own, "HEAD", "/metrics"),
    ask(own, "POST", "/metrics"),
    ask(own, "GET", "/"),
    ask(own, "GET", "/healthz"),
    ask(own, "GET", "/metrics/"),
  ]);
  expect(statuses).toEqual([200, 200, 404, 404, 404, 404]);
  expect(await ask(site, "GET", "/metrics")).toBe(404); // The site's own port does not serve metrics.
  const response = await fetch(site.metricsUrl);
  expect(response.headers.get("Content-Type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const lag = (await site.metrics()).get("nodejs_eventloop_lag_p99_seconds{}");
  expect(lag).toBeGreaterThan(0);
  expect(lag).toBeLessThan(5);
});

it("the metrics server returns 500 if a value cannot be read", async () => {
  const pool = createPool(noDatabase);
  const port = await freePort();
  const isReady = () => Promise.reject(new Error("broken"));
  const stop = await createMetrics().serve("127.0.0.1", port, { pool, isReady });
  expect(await ask({ url: `http://127.0.0.1:${port}` }, "GET", "/metrics")).toBe(500);
  await stop();
});

it("the metrics server stops with the site despite an open connection", async () => {
  const site = await start();
  const unused = connect(Number(new URL(site.metricsUrl).port), "127.0.0.1");
  await once(unused, "connect");
  expect(await Promise.race([site.stop(), sleep(5_000, "late")])).toBe(0);
  expect(site.stderr()).toBe("");
  await expect(fetch(site.metricsUrl)).rejects.toThrow("fetch failed");
});

/** Returns the source of every bundled file that a start executes, as V8's coverage reports it. */
async function loadedCode(env: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "perennial-coverage-"));
  const site = await startSite({ env: { DATABASE_URL: database.webUrl, NODE_V8_COVERAGE: folder, ...env } });
  await site.stop();
  const reports = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), "utf8")));
  await rm(folder, { recursive: true });
  const files = new Set(reports.join("").match(/(?<="file:\/\/)[^"]+\/dist\/server\/[^"]+/g));
  expect([...files].some((file) => file.endsWith("/index.js"))).toBe(true);
  return (await Promise.all([...files].map((file) => readFile(file, "utf8")))).join("");
}

/** Returns the TCP ports on which the process listens. */
async function openPorts({ process: { pid } }: Site): Promise<string[]> {
  const folder = `/proc/${pid}/fd`;
  const links = await Promise.all((await readdir(folder)).map((name) => readlink(join(folder, name)).catch(() => "")));
  const tables = await Promise.all(["tcp", "tcp6"].map((name) => readFile(`/proc/${pid}/net/${name}`, "utf8")));
  const rows = tables.flatMap((table) => table.trim().split("\n").slice(1)).map((row) => row.trim().split(/\s+/));
  // The fourth column is 0A for a listening socket; the tenth is the socket's inode.
  return rows.filter((row) => row[3] === "0A" && links.includes(`socket:[${row[9]}]`)).map((row) => row[1] as string);
}
