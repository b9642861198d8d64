// A Postgres that requires TLS, as most providers do.
import { chmod, chown, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { migrate } from "../../server/database/migrate.ts";
import { projectRoot } from "../../server/config/project-root.ts";
import { certificate, key } from "../support/mail-server.ts";
import { superuserUrl } from "../support/database.ts";
import { startPostgres, queryAs } from "../support/postgres.ts";
import { run, runBuiltWaitlist, until, urlsOf } from "../support/run.ts";
import { ready, signUp, startSite } from "../support/site.ts";

/** The superuser needs no TLS, so that the test can stop Postgres. */
const access = `
hostnossl all postgres 127.0.0.1/32 scram-sha-256
hostssl all all 127.0.0.1/32 scram-sha-256
`;

const postgres = await startPostgres();
await migrate(postgres);
const data = join(postgres.directory, "data");
const { uid, gid } = await stat(data);
for (const [name, content] of [
  ["server.crt", certificate],
  ["server.key", key],
  ["pg_hba.conf", access],
] as const) {
  await writeFile(join(data, name), content);
  await chmod(join(data, name), 0o600);
  await chown(join(data, name), uid, gid);
}
await queryAs(postgres.superuserUrl, "ALTER SYSTEM SET ssl = on");
await queryAs(postgres.superuserUrl, "SELECT pg_reload_conf()");

afterAll(() => postgres.release());

/** Returns the URLs of the database with this host name; the certificate is for localhost. */
function urls(parameters: string, host = "localhost") {
  const given = (url: string) => url.replace("127.0.0.1", host).replace(/\?.*/, parameters);
  return { webUrl: given(postgres.webUrl), ownerUrl: given(postgres.ownerUrl) };
}

/** The server of the other tests, which has no TLS. */
const withoutTls = `${superuserUrl("postgres")}?sslmode=require`;

const withAuthority = (mode: string) => `?sslmode=${mode}&sslrootcert=${join(data, "server.crt")}`;

// Most providers show a URL with "require".
it.each(["verify-full", "require"])("site and commands use TLS with sslmode=%s", async (mode) => {
  const trusted = urls(withAuthority(mode));
  const site = await startSite({ env: urlsOf(trusted) });
  await ready(site);
  expect(await signUp(site)).toBe(201);
  expect(await site.stop()).toBe(0);
  expect(site.stderr()).toBe("");
  expect(await runBuiltWaitlist(trusted, ["export"])).toMatchObject({ code: 0, stderr: "" });
});

it.each([
  ["does not use TLS", () => urls(""), ". If it requires TLS, end its URL with ?sslmode=verify-full."],
  [
    "does not know the authority",
    () => urls("?sslmode=require"),
    "shows a certificate that is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT). Name the file of its authority: add &sslrootcert=/path/ca.pem to its URL.",
  ],
  [
    "finds another host in the certificate",
    () => urls(withAuthority("verify-full"), "127.0.0.1"),
    "shows the certificate of another host (ERR_TLS_CERT_ALTNAME_INVALID). Name that host in the URL.",
  ],
  [
    "meets a server without TLS",
    () => ({ webUrl: withoutTls, ownerUrl: withoutTls }),
    "offers no TLS. Enable it there or, if nobody can listen on the way to it, remove sslmode from its URL.",
  ],
])("a site that %s says so in one line of its log, and migrating in one message", async (_, given, message) => {
  const site = await startSite({ env: urlsOf(given()) });
  onTestFinished(() => void site.process.kill("SIGKILL"));
  const lines = () =>
    site
      .stdout()
      .split("\n")
      .filter((line) => line.includes('"database not available;'));
  await until("the log says why", () => lines().length > 0);
  expect(lines()).toEqual([expect.stringContaining(message)]);
  expect(lines()[0]).toMatch(/"Postgres at [\w.]+:\d+ (?:refuses the connection: |shows |offers )/);
  expect(await signUp(site)).toBe(503);
  const migrated = await run([process.execPath, join(projectRoot, "dist/server/migrate.js")], urlsOf(given()));
  expect(migrated).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(message) as string });
  expect(migrated.stderr.trimEnd().split("\n")).toHaveLength(1);
});
