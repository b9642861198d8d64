// The built server: its start, its settings, start errors, and the embedded database.
import { once } from "node:events";
import { cp, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, it } from "vitest";
import { migrate } from "../../server/database/migrate.ts";
import { freePort } from "../../server/database/embedded/free-port.ts";
import { version } from "../../package.json";
import { listen } from "../../server/http/listen.ts";
import { projectRoot } from "../../server/config/project-root.ts";
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
  const { host } = new URL(database.webUrl);
  expect(site.stdout()).toContain(`"database":"${host}/${database.name}","msg":"listening"`);
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
    // On a busy machine, Postgres may take longer than the site waits for it.
    const warning = /"level":40,.*"msg":"(?!database not available)(\w+)/g;
    return Array.from(site.stdout().matchAll(warning), ([, name]) => name);
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
    expect(await failToStart({ cwd: file("utf16") })).toBe(
      ".env is not UTF-8. Save it as UTF-8, in PowerShell with: (Get-Content .env) | Set-Content -Encoding utf8 .env\n",
    );
  },
);

it("a start refuses an .env that it cannot read, such as a folder that Docker made for a missing file", async () => {
  await mkdir(file("folder/.env"), { recursive: true });
  expect(await failToStart({ cwd: file("folder") })).toBe(
    ".env cannot be read (EISDIR). It must be a file that this account may read.\n",
  );
});

it("the site logs neither the client's address, nor a query, nor the values of a sign-up, also of a refused or failed one", async () => {
  const site = await start({ env: { ...urlsOf(database), LOG_LEVEL: "trace" } });
  await ready(site);
  await signUp(
    site,
    { ...ada, name: "Unmistakable", company: "Unmistakable", job_title: "\u0000Unmistakable" },
    { Referer: `${site.url}/?utm_source=Unmistakable` },
  );
  // Neither has an "@": the log would redact the path.
  await fetch(`${site.url}/api/earlyaccess?name=Unmistakable`, { method: "POST", body: '{"Unmistakable' });
  // It causes the warning about TRUST_PROXY.
  await fetch(`${site.url}/nope?name=Unmistakable`, { headers: { "X-Forwarded-For": "203.0.113.7" } });
  await database.query(`REVOKE INSERT ON earlyaccess FROM ${new URL(database.webUrl).username}`);
  expect(await signUp(site, { ...ada, name: "Unmistakable" })).toBe(503);
  await migrate(database); // Grants it again.
  await site.stop();
  for (const logged of [422, 415, 404, 503]) expect(site.stdout()).toContain(`"status":${logged}`);
  expect(site.stdout()).toContain("TRUST_PROXY is 0, but X-Forwarded-For has 1 ");
  expect(site.stdout().replace(/.*"listening".*/, "")).not.toMatch(/unmistakable|127\.0\.0\.1|203\.0\.113|::1/i);
});

it("a start reports that its port is taken and suggests the next one", async () => {
  const other = createServer();
  const port = await listen(other, "127.0.0.1", 0);
  const stderr = await failToStart({ env: { ...urlsOf(database), PORT: `${port}` } });
  expect(stderr).toBe(
    `Port ${port} is taken by another program. Stop that one, or choose another port, for example PORT=${port + 1}\n`,
  );
  other.close();
});

it("the site takes the owner as its web role if that is allowed, and warns of it", async () => {
  const env = { ...urlsOf(database), NODE_ENV: "production", DATABASE_URL: database.ownerUrl };
  const site = await start({ env: { ...env, ALLOW_PRIVILEGED_ROLE: "true" } });
  await ready(site);
  expect(await signUp(site)).toBe(201);
  expect(site.stdout()).toMatch(/"level":40.*superuser or the owner/);
});

/** Returns the command of a site of its own, so that the project's own .data stays untouched. */
async function cloneSite(name: string): Promise<[string, string]> {
  const clone = await copyBuild(name);
  await symlink(join(projectRoot, "node_modules"), join(clone, "node_modules"));
  return [process.execPath, join(clone, "dist/server/index.js")];
}

it.each(["SIGINT", "SIGHUP"] as const)(
  "the embedded database of a clone is not created by doctor, is migrated by each command, starts with the site, and stops with it after %s",
  async (signal) => {
    const command = await cloneSite(`C# ${signal}`);
    const waitlist = (name: string) => run([command[0], file(`C# ${signal}/dist/server/waitlist.js`), name], {});
    const { stdout } = await waitlist("doctor");
    expect(stdout).toMatch(/^problem {2}Database: .* there is no embedded Postgres yet/m);
    await expect(stat(file(`C# ${signal}/.data`))).rejects.toMatchObject({ code: "ENOENT" });
    for (const stats of await Promise.all([waitlist("stats"), waitlist("stats")])) {
      expect(stats).toMatchObject({ code: 0, stdout: expect.stringMatching(/^No views and no sign-ups/) as string });
    }
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
    /^DATABASE_URL is missing, and the embedded Postgres cannot run here: .*\nSet DATABASE_URL to a Postgres of your own, for example DATABASE_URL=postgresql:\/\/perennial_web:secret@db\.example:5432\/perennial\n$/,
  );
  await expect(stat(file("image/.data"))).rejects.toMatchObject({ code: "ENOENT" });
  const site = await start({ ...image, env: { ...urlsOf(database), HOST: "0.0.0.0" } });
  await ready({ url: site.url.replace("localhost", "127.0.0.2") }); // Not only on 127.0.0.1.
  expect(await signUp(site)).toBe(201);
});
