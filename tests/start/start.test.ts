// The built server as its users start and stop it.
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { projectRoot } from "../../server/project-root.ts";
import { createEmptyDatabase, createTestDatabase, superuserUrl, type TestDatabase } from "../support/database.ts";
import { killedAfterEach } from "../support/killed-after-each.ts";
import { runSite, startSite, type Site } from "../support/site.ts";
import { openWire } from "../support/tcp-proxy.ts";

const ada = { name: "Ada", email: "ada@example.com", company: "Engines" };

let database: TestDatabase;
const sites = killedAfterEach();

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

async function start(env: Record<string, string> = {}) {
  const given = { DATABASE_URL: database.webUrl, DATABASE_OWNER_URL: database.ownerUrl };
  const site = await startSite({ env: { ...given, ...env } });
  sites.push(site);
  return site;
}

const databaseName = () => new URL(database.ownerUrl).pathname.slice(1);
const exchanged = () => ({ DATABASE_URL: database.ownerUrl, DATABASE_OWNER_URL: database.webUrl });

const signUp = (site: Site, entry: object = ada) =>
  fetch(`${site.url}/api/earlyaccess`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(entry),
  });
const status = async (site: Site, path: string) => (await fetch(site.url + path)).status;

async function eventually(path: string, site: Site, wanted: number) {
  while ((await status(site, path)) !== wanted) await sleep(50);
}

describe("a start with a given database", () => {
  it("serves the site with nothing on stderr, and stops with 0", async () => {
    const site = await start();
    expect(await status(site, "/")).toBe(200);
    expect(await status(site, "/healthz")).toBe(200);
    expect(await status(site, "/readyz")).toBe(200);
    expect(await status(site, "/nope")).toBe(404);
    expect((await signUp(site)).status).toBe(201);
    expect(await site.stop()).toBe(0);
    expect(site.stderr()).toBe("");
  });

  it.each([
    ["the port that the system chose", {}, undefined],
    ["PUBLIC_URL, if it is set", { PUBLIC_URL: "https://perennial.example" }, "https://perennial.example"],
  ])("with PORT=0 names %s in canonical URLs", async (_, env, publicUrl) => {
    const site = await start(env);
    const origin = publicUrl ?? site.url;
    expect(await (await fetch(site.url)).text()).toContain(`<link rel="canonical" href="${origin}/">`);
    expect(await (await fetch(`${site.url}/sitemap.xml`)).text()).toContain(`<loc>${origin}/</loc>`);
    expect((await signUp(site)).status).toBe(201);
  });

  it("twice at once on an empty database comes up twice, and each migrates or finds it done", async () => {
    const empty = await createEmptyDatabase();
    const env = { DATABASE_URL: empty.webUrl, DATABASE_OWNER_URL: empty.ownerUrl };
    const [a, b] = await Promise.all([start(env), start(env)]);
    expect([(await signUp(a)).status, (await signUp(b)).status]).toEqual([201, 201]);
    expect(await empty.query("SELECT email FROM earlyaccess")).toEqual([{ email: ada.email }]);
    for (const site of sites.splice(0)) expect(await site.stop()).toBe(0);
    await empty.drop();
  });

  it("reads .env with a byte order mark, lets the environment win, and warns once of a misspelt variable", async () => {
    const folder = await mkdtemp(join(tmpdir(), "perennial-env-"));
    const lines = ["PUBLIC_URL=https://from.file", `DATABASE_URL=${database.webUrl}`, "TRUST_PROXI=hunter2", "PORT=1"];
    await writeFile(join(folder, ".env"), `\uFEFF${lines.join("\n")}\n`);
    const site = await startSite({ cwd: folder });
    sites.push(site);
    expect(await (await fetch(`${site.url}/sitemap.xml`)).text()).toContain("<loc>https://from.file/</loc>");
    expect(
      site.stdout().match(/"level":40,.*"TRUST_PROXI is set but has no effect\. Did you mean TRUST_PROXY\?"/g),
    ).toHaveLength(1);
    expect(site.stdout()).not.toContain("hunter2");
    await rm(folder, { recursive: true });
  });

  it.each([
    ["the owner", "acts as the waitlist's owner", () => ({ DATABASE_URL: database.ownerUrl })],
    ["exchanged URLs", "exchange the two URLs", exchanged],
    ["a superuser", "is a superuser", () => ({ DATABASE_URL: superuserUrl(databaseName()) })],
  ])("with %s as the web role works and warns once", async (_, warning, env) => {
    const site = await start(env());
    expect((await signUp(site)).status).toBe(201);
    expect(site.stdout().match(new RegExp(`"level":40.*${warning}`, "g"))).toHaveLength(1);
  });

  it("goes on when nobody takes its log any more, and stops with 0", async () => {
    const site = await start();
    site.process.stdout?.destroy();
    for (let i = 0; i < 3; i++) expect(await status(site, "/")).toBe(200);
    expect(await site.stop()).toBe(0);
    expect(site.stderr()).toBe("");
  });

  it("keeps connections for longer than a proxy that stands in front, which must be the first to close", async () => {
    const keptBy = async (site: Site) => (await fetch(site.url)).headers.get("keep-alive");
    expect(await keptBy(await start())).toBe("timeout=10");
    expect(await keptBy(await start({ TRUST_PROXY: "1" }))).toBe("timeout=125");
  });

  it("logs nothing of what a visitor sends, also where it fails", async () => {
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

describe("a start that cannot succeed", () => {
  it("names every bad variable and exits with 1", async () => {
    const site = runSite({ env: { PORT: "abc", TRUST_PROXY: "yes", DATABASE_URL: "mysql://root:hunter2@db/x" } });
    expect(await once(site.process, "exit")).toEqual([1, null]);
    for (const name of ["PORT", "TRUST_PROXY", "DATABASE_URL"]) expect(site.stderr()).toContain(`${name} is `);
    expect(site.stderr()).not.toMatch(/hunter2|at .*\.js/);
  });

  it.each([
    [
      "is a directory",
      (path: string) => mkdir(path),
      /^\.env is a directory\. Remove it, .* for example: cp \.env\.example \.env\n$/,
    ],
    [
      "is UTF-16",
      (path: string) => writeFile(path, "\uFEFFPORT=8080\n", "utf16le"),
      /^\.env is not UTF-8\. Save it as UTF-8, .*\n$/,
    ],
  ])("says that .env %s and exits with 1", async (_, make, message) => {
    const folder = await mkdtemp(join(tmpdir(), "perennial-env-"));
    await make(join(folder, ".env"));
    const site = runSite({ cwd: folder });
    expect(await once(site.process, "exit")).toEqual([1, null]);
    expect(site.stderr()).toMatch(message);
    await rm(folder, { recursive: true });
  });

  it("says that the port is taken and exits with 1", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const site = runSite({ env: { PORT: `${port}`, DATABASE_URL: database.ownerUrl } });
    expect(await once(site.process, "exit")).toEqual([1, null]);
    expect(site.stderr()).toMatch(new RegExp(`^Port ${port} is taken by another program\\. .*PORT=${port + 1}\n$`));
    other.close();
  });

  it("prints the SQL for an administrator if the owner may not create the web role, and exits with 1", async () => {
    const empty = await createEmptyDatabase();
    const admin = new pg.Client(superuserUrl("postgres"));
    await admin.connect();
    await admin.query(`ALTER ROLE ${new URL(empty.ownerUrl).username} NOCREATEROLE`);
    await admin.end();
    const site = runSite({ env: { DATABASE_URL: empty.webUrl, DATABASE_OWNER_URL: empty.ownerUrl } });
    expect(await once(site.process, "exit")).toEqual([1, null]);
    expect(site.stderr()).toContain("As an administrator of this database, run:");
    await empty.drop();
  });

  it.each([
    ["the owner", "acts as the waitlist's owner", () => ({ DATABASE_URL: database.ownerUrl })],
    ["exchanged URLs", "exchange the two URLs", exchanged],
    ["a superuser", "is a superuser", () => ({ DATABASE_URL: superuserUrl(databaseName()) })],
  ])("refuses %s as the web role in production, unless that is allowed", async (_, reason, env) => {
    const given = { DATABASE_OWNER_URL: database.ownerUrl, ...env() };
    const site = runSite({ env: { ...given, NODE_ENV: "production" } });
    expect(await once(site.process, "exit")).toEqual([1, null]);
    expect(site.stderr()).toMatch(new RegExp(`${reason}[^]*set ALLOW_PRIVILEGED_ROLE=true\\.\n$`));
    expect(site.stderr()).not.toMatch(/ at .*\.js/);
    const allowed = await start({ ...env(), NODE_ENV: "production", ALLOW_PRIVILEGED_ROLE: "true" });
    expect((await signUp(allowed)).status).toBe(201);
  });
});

describe("a database that goes away", () => {
  it("may be away at the start: pages are served, and sign-ups follow when it is there", async () => {
    const empty = await createEmptyDatabase();
    const wire = await openWire(empty.webUrl);
    await wire.cut();
    const site = await start({ DATABASE_URL: wire.url(empty.webUrl), DATABASE_OWNER_URL: wire.url(empty.ownerUrl) });
    expect(await status(site, "/")).toBe(200);
    expect(await status(site, "/readyz")).toBe(503);
    expect((await signUp(site)).status).toBe(503);
    await wire.mend();
    await eventually("/readyz", site, 200);
    expect((await signUp(site)).status).toBe(201);
    await site.stop();
    await wire.cut();
    await empty.drop();
  });

  it.each(["cut", "stall"] as const)("and is %s: /readyz and sign-ups answer 503, then all recovers", async (how) => {
    const wire = await openWire(database.webUrl);
    const site = await start({ DATABASE_URL: wire.url(database.webUrl) });
    expect((await signUp(site)).status).toBe(201);
    await wire[how]();
    expect((await signUp(site)).status).toBe(503);
    expect(await status(site, "/readyz")).toBe(503);
    expect(await status(site, "/")).toBe(200);
    await wire.mend();
    await eventually("/readyz", site, 200);
    expect((await signUp(site)).status).toBe(201);
    expect(await site.stop()).toBe(0);
    expect(site.stderr()).toBe("");
    await wire.cut();
  });
});

describe("a stop", () => {
  it("ends a start that hangs on its database", async () => {
    const other = new pg.Client(database.ownerUrl);
    await other.connect();
    await other.query("SELECT pg_advisory_lock(4155219)");
    const site = await start();
    expect(await status(site, "/")).toBe(200);
    expect(await site.stop()).toBe(0);
    await other.end();
  });

  it.each(["SIGTERM", "SIGINT"] as const)(
    "by %s lets a sign-up that is under way finish, and ends a connection on which nothing was asked",
    async (signal) => {
      const site = await start();
      const unused = connect(Number(new URL(site.url).port), "127.0.0.1");
      await once(unused, "connect");
      const unusedClosed = once(unused, "close");
      const owner = new pg.Client(database.ownerUrl);
      await owner.connect();
      await owner.query("BEGIN; LOCK TABLE earlyaccess IN ACCESS EXCLUSIVE MODE");
      const answer = signUp(site, { ...ada, email: `${signal}@example.com` });
      await eventuallyWaiting(owner);
      const stopped = site.stop(signal);
      site.process.kill(signal); // As npm and a terminal do, which pass it on twice.
      await refused(site);
      await unusedClosed;
      await owner.query("COMMIT");
      expect((await answer).status).toBe(201);
      expect(await stopped).toBe(0);
      expect(
        await database.query("SELECT 1 FROM earlyaccess WHERE email = $1", [`${signal}@example.com`.toLowerCase()]),
      ).toHaveLength(1);
      expect(site.stderr()).toBe("");
      await owner.end();
    },
  );
});

async function eventuallyWaiting(client: pg.Client) {
  const waiting = "SELECT FROM pg_locks WHERE NOT granted AND relation = 'earlyaccess'::regclass";
  while ((await client.query(waiting)).rowCount === 0) await sleep(20);
}

async function refused(site: Site) {
  while (await fetch(`${site.url}/healthz`, { headers: { Connection: "close" } }).catch(() => false)) await sleep(20);
}

describe("the embedded database", () => {
  it("comes with a clone: started, announced in a few lines, and stopped with the site", async () => {
    // A copy: the tests leave the data of whoever develops here alone.
    const clone = await mkdtemp(join(tmpdir(), "perennial-clone-"));
    for (const part of ["dist", "prisma"]) await cp(join(projectRoot, part), join(clone, part), { recursive: true });
    await symlink(join(projectRoot, "node_modules"), join(clone, "node_modules"));
    const site = await startSite({ command: [process.execPath, join(clone, "dist/server/index.js")] });
    sites.push(site);
    expect(site.stdout()).toMatch(
      /Perennial is ready\.\n {2}Site {4}http:\/\/localhost:\d+\n {2}Data {4}.*\.data\/postgres .*\n {2}Browse {2}npm run studio\n {2}Stop {4}Ctrl-C\n/,
    );
    expect(await status(site, "/readyz")).toBe(200);
    const lock = join(clone, ".data/postgres/data/postmaster.pid");
    expect(await readFile(lock, "utf8")).not.toBe("");
    expect(await site.stop("SIGINT")).toBe(0);
    expect(site.stderr()).toBe("");
    await expect(readFile(lock)).rejects.toMatchObject({ code: "ENOENT" });
    await rm(clone, { recursive: true });
  });

  it("is not in the production image, which says that DATABASE_URL is missing", async () => {
    const image = await mkdtemp(join(tmpdir(), "perennial-image-"));
    await cp(join(projectRoot, "dist"), join(image, "dist"), { recursive: true });
    await cp(join(projectRoot, "prisma"), join(image, "prisma"), { recursive: true });
    const command: [string, ...string[]] = [process.execPath, "dist/server/index.js"];
    const without = runSite({ cwd: image, command });
    expect(await once(without.process, "exit")).toEqual([1, null]);
    expect(without.stderr()).toMatch(/^DATABASE_URL is missing/);
    await expect(stat(join(image, ".data"))).rejects.toMatchObject({ code: "ENOENT" }); // Nor could it be made there.
    const env = { DATABASE_URL: database.webUrl, DATABASE_OWNER_URL: database.ownerUrl };
    const site = await startSite({ cwd: image, command, env });
    sites.push(site);
    expect(await status(site, "/readyz")).toBe(200);
    expect((await signUp(site)).status).toBe(201);
    expect(await site.stop()).toBe(0);
    await rm(image, { recursive: true });
  });
});
