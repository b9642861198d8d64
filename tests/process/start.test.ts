// The built server: its start, its settings, start errors, and the embedded database.
import { once } from "node:events";
import { cp, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import pg from "pg";
import { expect, it } from "vitest";
import { migrate } from "../../server/database/migrate.ts";
import { freePort } from "../../server/database/embedded/free-port.ts";
import { version } from "../../package.json";
import { listen } from "../../server/http/listen.ts";
import { projectRoot } from "../../server/project-root.ts";
import { createEmptyDatabase, createWebRole, superuserUrl } from "../support/database.ts";
import { queryAs } from "../support/postgres.ts";
import { run, runSite, urlsOf, type Options, type Site, until, within } from "../support/run.ts";
import { ada, postSignup, ready, signUp } from "../support/site.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";

const { database, file, start } = await createWaitlistFixture();

/** Runs a start that fails, and returns its stderr. */
async function failToStart(options: Options): Promise<string> {
  const site = runSite(options);
  expect(await within("the end of the site", once(site.process, "exit"))).toEqual([1, null]);
  expect(site.stderr()).not.toMatch(/ at .*\.js/);
  return site.stderr();
}

/** Returns a new folder with the built site. */
async function copyBuild(name: string): Promise<string> {
  for (const part of ["dist", "prisma"]) {
    await cp(join(projectRoot, part), file(`${name}/${part}`), { recursive: true });
  }
  return file(name);
}

const status = async (site: Site, path: string) => (await fetch(site.url + path)).status;

it("the site starts with a given database and an empty stderr, names its version first, and exits with 0", async () => {
  const site = await start({ env: { ...urlsOf(database), PORT: `${await freePort()}` } });
  expect(JSON.parse(site.stdout().split("\n", 1)[0] as string)).toMatchObject({ version });
  await ready(site);
  expect(await (await fetch(site.url)).text()).toContain(`<link rel="canonical" href="${site.url}/">`);
  expect(await status(site, "/nope")).toBe(404);
  // The bundler must keep the check of percent-encoding.
  expect(await status(site, "/100%")).toBe(404);
  expect((await postSignup(site, ada)).headers.get("ratelimit")).toContain('"client"; r=29; t=600');
  expect(await site.stop()).toBe(0);
  expect(site.stderr()).toBe("");
});

it("the site warns in production of an owner's URL and of a missing PUBLIC_URL", async () => {
  const warnings = async (env: Record<string, string>) => {
    const site = await start({ env: { NODE_ENV: "production", ...env } });
    await site.stop();
    return Array.from(site.stdout().matchAll(/"level":40,.*"msg":"(\w+)/g), ([, name]) => name);
  };
  expect(await warnings(urlsOf(database))).toEqual(["PUBLIC_URL", "DATABASE_OWNER_URL"]);
  const site = { DATABASE_URL: database.webUrl, PUBLIC_URL: "https://perennial.example" };
  expect(await warnings(site)).toEqual([]);
});

it("the site reads .env and the file of a secret, prefers the environment, also what is empty there, and heeds each of its settings", async () => {
  await writeFile(file("database_url"), `${database.webUrl}\n`);
  const settings = `\uFEFFPUBLIC_URL=https://from.file
PORT=1
UNCONFIRMED_DAYS=1
DATABASE_URL_FILE=database_url
ALLOW_INDEXING=false
LOG_LEVEL=debug
TRUST_PROXY=1
SIGNUP_LIMIT=7
CONTROLLER='From File Inc., Suite #5'
LEGAL_LINKS=Imprint=https://from.file/imprint
MAIL_FROM=a@from.file
`;
  await writeFile(file(".env"), settings);
  const site = await start({ cwd: file(), env: { UNCONFIRMED_DAYS: "" } });
  const page = await fetch(site.url);
  expect(page.headers.get("X-Robots-Tag")).toBe("noindex");
  const html = await page.text();
  for (const part of ['rel="canonical" href="https://from.file/"', 'href="https://from.file/imprint"']) {
    expect(html).toContain(part);
  }
  await ready(site);
  await until("the log has a probe", () => site.stdout().includes('"path":"/readyz"'));
  const notice = () => database.query("SELECT FROM earlyaccess_notices WHERE text LIKE '%From File Inc., Suite #5%'");
  await until("the notice is stored before a sign-up", async () => (await notice()).length === 1);
  for (const client of ["203.0.113.1", "203.0.114.1"]) {
    const headers = { Origin: "https://from.file", "X-Forwarded-For": client };
    const answer = await postSignup(site, { ...ada, email: `${client}@from.file` }, headers);
    expect([answer.status, await answer.json()]).toEqual([201, { message: expect.any(String) as string }]);
    expect(answer.headers.get("RateLimit")).toContain('"client"; r=6;');
  }
});

it.each(["\uFEFFPORT=0\n", "PORT=0\n"])(
  "a start refuses the .env %j in UTF-16, which PowerShell writes",
  async (text) => {
    await mkdir(file("utf16"), { recursive: true });
    await writeFile(file("utf16/.env"), text, "utf16le");
    expect(await failToStart({ cwd: file("utf16") })).toMatch(/^\.env is not UTF-8\. Save it as UTF-8, /);
  },
);

it("a start refuses an .env that it cannot read, such as a folder that Docker made for a missing file", async () => {
  await mkdir(file("folder/.env"), { recursive: true });
  expect(await failToStart({ cwd: file("folder") })).toMatch(/^\.env cannot be read \(EISDIR\)\. /);
});

it("the site logs neither the client's address, nor a query, nor the values of a sign-up, also of a refused or failed one", async () => {
  const site = await start({ env: { ...urlsOf(database), LOG_LEVEL: "trace" } });
  await signUp(
    site,
    { ...ada, name: "Unmistakable", company: "Unmistakable", job_title: "\u0000Unmistakable" },
    { Referer: `${site.url}/?utm_source=Unmistakable` },
  );
  // Neither has an "@": the log would redact the path.
  await fetch(`${site.url}/api/earlyaccess?name=Unmistakable`, { method: "POST", body: '{"Unmistakable' });
  // It causes the warning about TRUST_PROXY.
  await fetch(`${site.url}/nope?name=Unmistakable`, { headers: { "X-Forwarded-For": "203.0.113.7" } });
  await database.query(`REVOKE INSERT ON earlyaccess FROM ${new URL(database.webUrl).username}`); // The next start grants it.
  expect(await signUp(site, { ...ada, name: "Unmistakable" })).toBe(503);
  await site.stop();
  for (const logged of [422, 415, 404, 503]) expect(site.stdout()).toContain(`"status":${logged}`);
  expect(site.stdout()).toContain("TRUST_PROXY is 0, but X-Forwarded-For has 1 ");
  expect(site.stdout().replace(/.*"listening".*/, "")).not.toMatch(/unmistakable|127\.0\.0\.1|203\.0\.113|::1/i);
});

it("a start reports that its port is taken and suggests the next one", async () => {
  const other = createServer();
  const port = await listen(other, "127.0.0.1", 0);
  const stderr = await failToStart({ env: { ...urlsOf(database), PORT: `${port}` } });
  expect(stderr).toMatch(new RegExp(`^Port ${port} is taken by another program\\. .* PORT=${port + 1}\n$`));
  other.close();
});

it("a start says how to migrate if the web role finds no table", async () => {
  const empty = await createEmptyDatabase();
  await empty.asSuperuser(createWebRole(empty));
  const env = { NODE_ENV: "production", DATABASE_URL: empty.webUrl };
  expect(await failToStart({ env })).toMatch(
    /^The table public\.earlyaccess does not exist, and ".*_web" may not migrate\. Migrate: docker compose run --rm --no-deps migrate, .*\n$/,
  );
});

it("a start does not migrate another program's database, unless in production or after npm run migrate, and the log names it", async () => {
  const [other, shared] = [await createEmptyDatabase(), await createEmptyDatabase()];
  for (const { query } of [other, shared]) await query("CREATE SCHEMA shop; CREATE TABLE shop.orders ()");
  const { host } = new URL(other.ownerUrl);
  const message = `${host}/${other.name} has tables of another program. Name another database in DATABASE_URL`;
  expect(await failToStart({ env: urlsOf(other) })).toContain(message);
  expect(await other.query("SELECT FROM pg_tables WHERE schemaname = 'public'")).toEqual([]);
  const inProduction = await start({ env: { ...urlsOf(shared), NODE_ENV: "production" } });
  expect(inProduction.stdout()).toContain('"msg":"migrated"');
  const migrated = await run([process.execPath, join(projectRoot, "dist/server/migrate.js")], urlsOf(other));
  expect(migrated.stdout).toMatch(/^Applied /);
  const site = await start({ env: urlsOf(other) });
  expect(site.stdout()).toContain(`"database":"${host}/${other.name}","msg":"listening"`);
});

it("a start prints the SQL for an administrator if the owner cannot create the web role", async () => {
  const empty = await createEmptyDatabase();
  await empty.asSuperuser(`ALTER ROLE ${empty.name}_owner NOCREATEROLE`);
  expect(await failToStart({ env: urlsOf(empty) })).toContain(
    "As an administrator of this database, run what is missing of:",
  );
});

it("a start on a read-only server says so", async () => {
  const empty = await createEmptyDatabase();
  await empty.query(`ALTER DATABASE ${empty.name} SET default_transaction_read_only = on`);
  expect(await failToStart({ env: urlsOf(empty) })).toMatch(/\. This server is read-only: name the primary one\.\n$/);
});

it("a start refuses the owner or a superuser as the web role in production, unless it is allowed", async () => {
  const { ownerUrl } = database;
  const production = { ...urlsOf(database), NODE_ENV: "production" };
  expect(await failToStart({ env: { ...production, DATABASE_URL: ownerUrl } })).toMatch(
    /superuser or the owner[^]*set ALLOW_PRIVILEGED_ROLE=true\.\n$/,
  );
  const superuser = { NODE_ENV: "production", DATABASE_URL: superuserUrl(database.name) };
  // As in Docker Compose, without the owner's URL, too.
  for (const urls of [urlsOf(database), {}]) {
    expect(await failToStart({ env: { ...urls, ...superuser } })).toMatch(
      /is a superuser[^]*set ALLOW_PRIVILEGED_ROLE=true\.\n$/,
    );
  }
  const allowed = await start({ env: { ...production, DATABASE_URL: ownerUrl, ALLOW_PRIVILEGED_ROLE: "true" } });
  expect(await signUp(allowed)).toBe(201); // Migrating took no right from the owner.
  expect(allowed.stdout()).toMatch(/"level":40.*superuser or the owner/);
});

// Docker Compose gives the site no owner's URL.
it.each([
  [
    "with the owner's URL",
    "ALTER ROLE :role IN DATABASE :name SET local_preload_libraries = 'nothing'",
    "ALTER ROLE :role IN DATABASE :name RESET ALL",
    "58P01",
  ],
  [
    "with the owner's URL",
    "ALTER ROLE :role PASSWORD 'another one'",
    "ALTER ROLE :role PASSWORD :password",
    "password authentication failed",
  ],
  [
    "as in Compose",
    "ALTER ROLE :role PASSWORD 'another one'",
    "ALTER ROLE :role PASSWORD :password",
    "password authentication failed",
  ],
  ["as in Compose", "ALTER ROLE :role NOLOGIN", "ALTER ROLE :role LOGIN", "is not permitted to log in"],
  [
    "as in Compose",
    "REVOKE CONNECT ON DATABASE :name FROM PUBLIC, :role",
    "GRANT CONNECT ON DATABASE :name TO :role",
    "refuses the connection: permission denied for database",
  ],
  [
    "as in Compose",
    "ALTER DATABASE :name RENAME TO :name_away",
    "ALTER DATABASE :name_away RENAME TO :name",
    "does not exist",
  ],
])(
  "%s, a web role that cannot log in stops no page, and sign-ups get 503 until it can: %s",
  async (how, fault, cure, reason) => {
    // With roles of its own: those of the other databases serve tests that run at the same time.
    const own = await createEmptyDatabase();
    await migrate(own);
    const { username, password } = new URL(own.webUrl);
    const values = { name: own.name, role: username, password: pg.escapeLiteral(decodeURIComponent(password)) };
    const fill = (sql: string) => sql.replaceAll(/:([a-z]+)/g, (_, key) => values[key as keyof typeof values]);
    const asSuperuser = (sql: string) => queryAs(superuserUrl("postgres"), fill(sql));
    const urls = how === "as in Compose" ? { DATABASE_URL: own.webUrl } : urlsOf(own);
    await asSuperuser(fault);
    const site = await start({ env: { ...urls, NODE_ENV: "production" } });
    expect([await status(site, "/"), await signUp(site), await status(site, "/readyz")]).toEqual([200, 503, 503]);
    expect(site.stdout()).toMatch(new RegExp(`"level":40.*${reason}.*sign-ups get 503`));
    await asSuperuser(cure);
    await ready(site);
    expect(await signUp(site)).toBe(201);
    for (const message of ["request failed", "sign-ups cannot be stored"]) {
      expect(site.stdout()).toContain(`"code":"DATABASE_NOT_ACCEPTED"},"msg":"${message}"`); // As docs/incident.md says.
    }
  },
);

/** Returns the command of a site of its own, so that the project's own .data stays untouched. */
async function cloneSite(name: string): Promise<[string, string]> {
  const clone = await copyBuild(name);
  await symlink(join(projectRoot, "node_modules"), join(clone, "node_modules"));
  return [process.execPath, join(clone, "dist/server/index.js")];
}

it.each(["SIGINT", "SIGHUP"] as const)(
  "the embedded database of a clone is not created by doctor, starts with the site, and stops with it after %s",
  async (signal) => {
    const command = await cloneSite(`C# ${signal}`);
    const { stdout } = await run([command[0], file(`C# ${signal}/dist/server/waitlist.js`), "doctor"], {});
    expect(stdout).toMatch(/^problem {2}Database: .* there is no embedded Postgres yet/m);
    await expect(stat(file(`C# ${signal}/.data`))).rejects.toMatchObject({ code: "ENOENT" });
    const site = await start({ command });
    expect(site.stdout()).toMatch(/Perennial is ready\.\n {2}Site {4}http:\/\/127\.0\.0\.1:\d+\n/);
    await ready(site);
    const lock = file(`C# ${signal}/.data/postgres/data/postmaster.pid`);
    expect(await readFile(lock, "utf8")).not.toBe("");
    expect(await site.stop(signal)).toBe(0);
    expect(site.stderr()).toBe("");
    await expect(readFile(lock)).rejects.toMatchObject({ code: "ENOENT" });
  },
);

it("the embedded database is not in the production image, which requires DATABASE_URL", async () => {
  const image: Options = { cwd: await copyBuild("image"), command: [process.execPath, "dist/server/index.js"] };
  expect(await failToStart(image)).toMatch(
    /^DATABASE_URL is missing, and the embedded Postgres cannot run here: .*\nSet DATABASE_URL to a Postgres of your own, .*\n$/,
  );
  await expect(stat(file("image/.data"))).rejects.toMatchObject({ code: "ENOENT" });
  const site = await start({ ...image, env: { ...urlsOf(database), HOST: "0.0.0.0" } });
  await ready({ url: site.url.replace("localhost", "127.0.0.2") }); // Not only on 127.0.0.1.
  expect(await signUp(site)).toBe(201);
});
