// A Postgres that requires TLS, as most providers do.
import { once } from "node:events";
import { chmod, chown, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { certificate, key } from "../support/mail-server.ts";
import { superuserUrl } from "../support/database.ts";
import { startPostgres, queryAs } from "../support/postgres.ts";
import { runSite, urlsOf, runBuiltWaitlist, within } from "../support/run.ts";
import { signUp, startSite } from "../support/site.ts";

/** The superuser needs no TLS, so that the test can stop Postgres. */
const access = `
hostnossl all postgres 127.0.0.1/32 scram-sha-256
hostssl all all 127.0.0.1/32 scram-sha-256
`;

const postgres = await startPostgres();
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
  expect(await signUp(site)).toBe(201);
  expect(await site.stop()).toBe(0);
  expect(site.stderr()).toBe("");
  expect(await runBuiltWaitlist(trusted, ["export"])).toMatchObject({ code: 0, stderr: "" });
});

it.each([
  ["does not use TLS", () => urls(""), /^Postgres at localhost:\d+ refuses the connection: .*sslmode=verify-full/],
  ["does not know the authority", () => urls("?sslmode=require"), /certificate that is not trusted .*sslrootcert=/],
  [
    "finds another host in the certificate",
    () => urls(withAuthority("verify-full"), "127.0.0.1"),
    /ERR_TLS_CERT_ALTNAME_INVALID/,
  ],
  [
    "meets a server without TLS",
    () => ({ webUrl: withoutTls, ownerUrl: withoutTls }),
    /offers no TLS\. .*remove sslmode from its URL/,
  ],
])("a start that %s ends with one message", async (_, given, message) => {
  const site = runSite({ env: urlsOf(given()) });
  expect(await within("the end of the site", once(site.process, "exit"))).toEqual([1, null]);
  expect(site.stderr()).toMatch(message);
  expect(site.stderr().trimEnd().split("\n")).toHaveLength(1);
});
