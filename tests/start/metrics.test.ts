// Metrics: off by default, and on a port of their own.
import { once } from "node:events";
import { cp, mkdtemp, readdir, readFile, readlink, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPool } from "../../server/database/connect.ts";
import { createMetrics } from "../../server/metrics/metrics.ts";
import { projectRoot } from "../../server/project-root.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { freePort } from "../support/free-port.ts";
import { killedAfterEach } from "../support/killed-after-each.ts";
import { ask, startMeasuredSite, type MeasuredSite } from "../support/metrics.ts";
import { runSite, startSite, type Options, type Site } from "../support/site.ts";

let database: TestDatabase;
const sites = killedAfterEach();

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

async function start(env: Record<string, string> = {}, options: Options = {}): Promise<MeasuredSite> {
  const site = await startMeasuredSite({ ...options, env: { DATABASE_URL: database.webUrl, ...env } });
  sites.push(site);
  return site;
}

describe("without METRICS_PORT", () => {
  it.runIf(process.platform === "linux")("no other port is open", async () => {
    const off = await startSite({ env: { DATABASE_URL: database.webUrl } });
    sites.push(off);
    const on = await start();
    expect(await openPorts(off)).toHaveLength(1);
    expect(await openPorts(on)).toHaveLength(2);
  });

  it("the library is not even loaded", async () => {
    expect(await loadedCode({})).not.toContain("nodejs_eventloop_lag");
    expect(await loadedCode({ METRICS_PORT: String(await freePort()) })).toContain("nodejs_eventloop_lag");
  });

  it("the site itself has no page of metrics", async () => {
    const site = await start();
    expect(await ask(site, "GET", "/metrics")).toBe(404);
  });
});

describe("the metrics' own server", () => {
  it("answers GET and HEAD of /metrics, and nothing else", async () => {
    const site = await start();
    const own = { url: new URL(site.metricsUrl).origin };
    expect(await ask(own, "GET", "/metrics")).toBe(200);
    expect(await ask(own, "HEAD", "/metrics")).toBe(200);
    for (const [method, path] of [
      ["POST", "/metrics"],
      ["GET", "/"],
      ["GET", "/healthz"],
      ["GET", "/metrics/"],
    ] as const)
      expect(await ask(own, method, path)).toBe(404);
    const response = await fetch(site.metricsUrl);
    expect(response.headers.get("Content-Type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const lag = (await site.metrics()).get("nodejs_eventloop_lag_p99_seconds{}");
    expect(lag).toBeGreaterThan(0);
    expect(lag).toBeLessThan(5);
  });

  it("answers 500 where something cannot be looked up", async () => {
    const pool = createPool("postgresql://unused:unused@127.0.0.1:1/unused");
    const port = await freePort();
    const isReady = () => Promise.reject(new Error("broken"));
    const stop = await createMetrics().serve("127.0.0.1", port, { pool, isReady });
    expect(await ask({ url: `http://127.0.0.1:${port}` }, "GET", "/metrics")).toBe(500);
    await stop();
  });

  it("stops with the site, whoever is connected", async () => {
    const site = await start();
    const unused = connect(Number(new URL(site.metricsUrl).port), "127.0.0.1");
    await once(unused, "connect");
    expect(await Promise.race([site.stop(), sleep(5_000, "late")])).toBe(0);
    expect(site.stderr()).toBe("");
    await expect(fetch(site.metricsUrl)).rejects.toThrow("fetch failed");
  });

  it("stops the start where its port is taken", async () => {
    const other = await start();
    const port = Number(new URL(other.metricsUrl).port);
    const site = runSite({ env: { METRICS_PORT: `${port}`, DATABASE_URL: database.webUrl } });
    expect(await once(site.process, "exit")).toEqual([1, null]);
    expect(site.stderr()).toMatch(
      new RegExp(`^Port ${port} is taken by another program\\. .*METRICS_PORT=${port + 1}\n$`),
    );
  });

  it("is in the bundle, without node_modules", async () => {
    const image = await mkdtemp(join(tmpdir(), "perennial-image-"));
    for (const part of ["dist", "prisma"]) await cp(join(projectRoot, part), join(image, part), { recursive: true });
    const site = await start({}, { cwd: image, command: [process.execPath, "dist/server/index.js"] });
    expect((await site.metrics()).get("perennial_ready{}")).toBe(1);
    await rm(image, { recursive: true });
  });
});

/** All code that a start runs, as V8 reports it. */
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

/** The TCP ports on which the process listens. */
async function openPorts({ process: { pid } }: Site): Promise<string[]> {
  const folder = `/proc/${pid}/fd`;
  const links = await Promise.all((await readdir(folder)).map((name) => readlink(join(folder, name)).catch(() => "")));
  const tables = await Promise.all(["tcp", "tcp6"].map((name) => readFile(`/proc/${pid}/net/${name}`, "utf8")));
  const rows = tables.flatMap((table) => table.trim().split("\n").slice(1)).map((row) => row.trim().split(/\s+/));
  // The fourth column says that it listens, the tenth names the socket.
  return rows.filter((row) => row[3] === "0A" && links.includes(`socket:[${row[9]}]`)).map((row) => row[1] as string);
}
