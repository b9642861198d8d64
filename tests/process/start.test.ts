// The built server: start, startup errors, database outages and shutdown.
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { version } from "../../package.json";
import type { DatabaseUrls } from "../../server/database/roles.ts";
import { projectRoot } from "../../server/project-root.ts";
import { createEmptyDatabase, createTestDatabase, superuserUrl, type TestDatabase } from "../support/database.ts";
import { killedAfterEach } from "../support/killed-after-each.ts";
import { startMeasuredSite } from "../support/metrics.ts";
import { ready, runSite, startSite, type Options, type Site } from "../support/site.ts";
import { withClient } from "../support/query.ts";
import { openWire } from "../support/tcp-proxy.ts";
import { until } from "../support/until.ts";

const ada = { name: "Ada", email: "ada@example.com", company: "Engines" };
const inFolder: Options["command"] = [process.execPath, "dist/server/index.js"];

let database: TestDatabase;
const sites = killedAfterEach();

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

async function start(env: Record<string, string> = {}): Promise<Site> {
  const site = await startSite({ env: { ...urlsOf(database), ...env } });
  sites.push(site);
  return site;
}

/** Runs a start that fails, and returns its stderr. */
async function failToStart(options: Options): Promise<string> {
  const site = runSite(options);
  expect(await once(site.process, "exit")).toEqual([1, null]);
  expect(site.stderr()).not.toMatch(/ at .*\.js/);
  return site.stderr();
}

/** Creates a folder that is deleted after the test. */
async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "perennial-start-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** Returns a new folder with the built site. */
async function copyBuild(): Promise<string> {
  const folder = await createFolder();
  for (const part of ["dist", "prisma"]) await cp(join(projectRoot, part), join(folder, part), { recursive: true });
  return folder;
}

const urlsOf = ({ webUrl, ownerUrl }: DatabaseUrls) => ({ DATABASE_URL: webUrl, DATABASE_OWNER_URL: ownerUrl });

/** URLs whose web role can read the waitlist. */
const privileged: [name: string, warning: string, urls: () => DatabaseUrls][] = [
  ["the owner", "superuser or the owner", () => ({ ...database, webUrl: database.ownerUrl })],
  ["exchanged URLs", "superuser or the owner", () => ({ webUrl: database.ownerUrl, ownerUrl: database.webUrl })],
  ["a superuser", "is a superuser", () => ({ ...database, webUrl: superuserUrl(databaseName()) })],
];
const databaseName = () => new URL(database.ownerUrl).pathname.slice(1);

const signUp = (site: Site, entry: object = ada) =>
  fetch(`${site.url}/api/earlyaccess`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(entry),
  });
const status = async (site: Site, path: string) => (await fetch(site.url + path)).status;

describe("a start with a given database", () => {
  it("serves the site with an empty stderr, names its version first, and exits with 0", async () => {
    const site = await start();
    expect(JSON.parse(site.stdout().split("\n", 1)[0] as string)).toMatchObject({ version });
    await ready(site);
    expect(await status(site, "/")).toBe(200);
    expect(await (await fetch(site.url)).text()).toContain(`<link rel="canonical" href="${site.url}/">`);
    expect(await status(site, "/healthz")).toBe(200);
    expect(await status(site, "/nope")).toBe(404);
    expect((await signUp(site)).status).toBe(201);
    // The bundler must keep the checks of percent-encoding.
    expect(await status(site, "/100%")).toBe(404);
    const body = "name=M%FCller&email=a%40b.co&company=C";
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    expect((await fetch(`${site.url}/api/earlyaccess`, { method: "POST", headers, body })).status).toBe(400);
    expect(await site.stop()).toBe(0);
    expect(site.stderr()).toBe("");
  });

  it("reads .env, and prefers the environment", async () => {
    const folder = await createFolder();
    const lines = ["PUBLIC_URL=https://from.file", `DATABASE_URL=${database.webUrl}`, "PORT=1"];
    await writeFile(join(folder, ".env"), `${lines.join("\n")}\n`);
    const site = await startSite({ cwd: folder });
    sites.push(site);
    expect(await (await fetch(`${site.url}/sitemap.xml`)).text()).toContain("<loc>https://from.file/</loc>");
  });

  it("reads a secret from the file that NAME_FILE names", async () => {
    const file = join(await createFolder(), "database_url");
    await writeFile(file, `${database.webUrl}\n`);
    const site = await start({ DATABASE_URL: "", DATABASE_URL_FILE: file });
    expect((await signUp(site)).status).toBe(201);
  });

  it("continues after the reader of its log has closed the pipe", async () => {
    const site = await start();
    site.process.stdout?.destroy();
    for (let i = 0; i < 3; i++) expect(await status(site, "/")).toBe(200);
    expect(await site.stop()).toBe(0);
    expect(site.stderr()).toBe("");
  });

  it("logs neither the client's address nor the values of a sign-up, also of a refused one", async () => {
    const site = await start({ LOG_LEVEL: "trace" });
    await signUp(site, { ...ada, name: "Unmistakable", company: "Unmistakable", job_title: "\u0000Unmistakable" });
    await fetch(`${site.url}/api/earlyaccess?email=unmistakable@example.com`, {
      method: "POST",
      body: '{"Unmistakable',
    });
    await site.stop();
    expect(site.stdout()).toContain('"status":422');
    expect(site.stdout().replace(/.*"listening".*/, "")).not.toMatch(/unmistakable|127\.0\.0\.1|::1/i);
  });
});

describe("a start that fails", () => {
  it("names every invalid variable without its secret", async () => {
    const env = { PORT: "abc", TRUST_PROXY: "yes", DATABASE_URL: "mysql://root:hunter2@db/x" };
    const stderr = await failToStart({ env });
    for (const name of Object.keys(env)) expect(stderr).toContain(`${name} is `);
    expect(stderr).not.toContain("hunter2");
  });

  it("reports that PORT is taken and suggests the next port", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const stderr = await failToStart({ env: { PORT: `${port}`, DATABASE_URL: database.ownerUrl } });
    expect(stderr).toMatch(new RegExp(`^Port ${port} is taken by another program\\. .*\\bPORT=${port + 1}\n$`));
    other.close();
  });

  it("prints the SQL for an administrator if the owner cannot create the web role", async () => {
    const empty = await createEmptyDatabase();
    const admin = new pg.Client(superuserUrl("postgres"));
    await admin.connect();
    await admin.query(`ALTER ROLE ${new URL(empty.ownerUrl).username} NOCREATEROLE`);
    await admin.end();
    expect(await failToStart({ env: urlsOf(empty) })).toContain("As an administrator of this database, run:");
    await empty.drop();
  });

  it.each(privileged)("refuses %s as the web role in production, unless it is allowed", async (who, reason, urls) => {
    const production = { ...urlsOf(urls()), NODE_ENV: "production" };
    const message = new RegExp(`${reason}[^]*set ALLOW_PRIVILEGED_ROLE=true\\.\n$`);
    expect(await failToStart({ env: production })).toMatch(message);
    if (who !== "a superuser") return;
    const allowed = await start({ ...production, ALLOW_PRIVILEGED_ROLE: "true" });
    expect((await signUp(allowed)).status).toBe(201);
    expect(allowed.stdout().match(new RegExp(`"level":40.*${reason}`, "g"))).toHaveLength(1);
  });
});

describe("a database outage", () => {
  it("at the start leaves the pages available, and sign-ups work once the database is reachable", async () => {
    const empty = await createEmptyDatabase();
    const wire = await openWire(empty.webUrl);
    await wire.cut();
    const site = await start({ DATABASE_URL: wire.url(empty.webUrl), DATABASE_OWNER_URL: wire.url(empty.ownerUrl) });
    await expectOutage(site);
    await wire.mend();
    await ready(site);
    expect((await signUp(site)).status).toBe(201);
    await site.stop();
    await wire.cut();
    await empty.drop();
  });

  it("that ends every connection during the start does not end the site, and sign-ups work afterwards", async () => {
    const empty = await createEmptyDatabase();
    const others = `FROM pg_stat_activity WHERE datname = '${new URL(empty.ownerUrl).pathname.slice(1)}'`;
    const over = new AbortController();
    const storm = withClient(superuserUrl("postgres"), async (client) => {
      for (let ended = 0; ended < 40 && !over.signal.aborted; await sleep(15)) {
        ended += (await client.query(`SELECT pg_terminate_backend(pid) ${others}`)).rowCount ?? 0;
      }
    });
    const site = await start({ ...urlsOf(empty), WEBHOOK_URL: "http://127.0.0.1:9/" });
    await sleep(5_000); // The first retries.
    over.abort();
    await storm;
    await ready(site);
    expect((await signUp(site)).status).toBe(201);
    expect(site.stderr()).toBe("");
    await site.stop();
    await empty.drop();
  });

  it("in which Postgres does not answer causes 503 for /readyz and sign-ups until it ends", async () => {
    const wire = await openWire(database.webUrl);
    const site = await start({ DATABASE_URL: wire.url(database.webUrl) });
    expect((await signUp(site)).status).toBe(201);
    wire.stall();
    await expectOutage(site);
    await wire.mend();
    await ready(site);
    expect((await signUp(site)).status).toBe(201);
    expect(await site.stop()).toBe(0);
    expect(site.stderr()).toBe("");
    await wire.cut();
  });

  async function expectOutage(site: Site): Promise<void> {
    expect((await signUp(site)).status).toBe(503);
    expect(await status(site, "/readyz")).toBe(503);
    expect(await status(site, "/")).toBe(200);
  }
});

describe("shutdown", () => {
  it("ends a start that waits for its database", async () => {
    const other = new pg.Client(database.ownerUrl);
    await other.connect();
    await other.query("SELECT pg_advisory_lock(72707369)");
    const site = await start();
    expect(await status(site, "/")).toBe(200);
    expect(await site.stop()).toBe(0);
    await other.end();
  });

  it("on SIGTERM completes a sign-up in progress and closes an unused connection", async () => {
    const email = "last@example.com";
    const site = await start();
    await fetch(`${site.url}/readyz`); // Otherwise the check at the start may be what waits for the lock.
    const unused = connect(Number(new URL(site.url).port), "127.0.0.1");
    await once(unused, "connect");
    const unusedClosed = once(unused, "close");
    const owner = new pg.Client(database.ownerUrl);
    await owner.connect();
    await owner.query("BEGIN; LOCK TABLE earlyaccess IN ACCESS EXCLUSIVE MODE");
    const response = signUp(site, { ...ada, email });
    const waiting = "SELECT FROM pg_locks WHERE NOT granted AND relation = 'earlyaccess'::regclass";
    while ((await owner.query(waiting)).rowCount === 0) await sleep(20);
    const stopped = site.stop();
    site.process.kill("SIGTERM"); // npm and a terminal together send the signal twice.
    const healthz = () => fetch(`${site.url}/healthz`, { headers: { Connection: "close" } }).catch(() => false);
    while (await healthz()) await sleep(20);
    await unusedClosed;
    await owner.query("COMMIT");
    expect((await response).status).toBe(201);
    expect(await stopped).toBe(0);
    expect(await database.query("SELECT 1 FROM earlyaccess WHERE email = $1", [email])).toHaveLength(1);
    expect(site.stderr()).toBe("");
    await owner.end();
  });
});

describe("the embedded database", () => {
  it("of a clone starts and stops with the site", async () => {
    const clone = await copyBuild(); // The project's own .data stays untouched.
    await symlink(join(projectRoot, "node_modules"), join(clone, "node_modules"));
    const site = await startSite({ command: [process.execPath, join(clone, "dist/server/index.js")] });
    sites.push(site);
    expect(site.stdout()).toMatch(
      /Perennial is ready\.\n {2}Site {4}http:\/\/localhost:\d+\n {2}Data {4}.*\.data\/postgres .*\n {2}Browse {2}npm run studio\n {2}Stop {4}Ctrl-C\n/,
    );
    await ready(site);
    const lock = join(clone, ".data/postgres/data/postmaster.pid");
    expect(await readFile(lock, "utf8")).not.toBe("");
    expect(await site.stop("SIGINT")).toBe(0);
    expect(site.stderr()).toBe("");
    await expect(readFile(lock)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("is not in the production image, which requires DATABASE_URL and has metrics", async () => {
    const image = { cwd: await copyBuild(), command: inFolder };
    expect(await failToStart(image)).toMatch(/^DATABASE_URL is missing/);
    await expect(stat(join(image.cwd, ".data"))).rejects.toMatchObject({ code: "ENOENT" });
    const site = await startMeasuredSite({ ...image, env: urlsOf(database) });
    sites.push(site);
    await ready(site);
    expect((await signUp(site)).status).toBe(201);
    await until("the metrics say ready", async () => (await site.metrics()).get("perennial_ready{}") === 1);
    expect(await site.stop()).toBe(0);
  });
});
