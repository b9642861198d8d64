// A Postgres that requires TLS, as most providers do.
import { once } from "node:events";
import { chmod, chown, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { certificate, key } from "../support/certificate.ts";
import { startPostgres, type Postgres } from "../support/postgres.ts";
import { runSite, startSite } from "../support/site.ts";
import { runBuiltWaitlist } from "../support/waitlist.ts";

/** The superuser needs no TLS, so that the test can stop Postgres. */
const access = `
hostnossl all postgres 127.0.0.1/32 scram-sha-256
hostssl all all 127.0.0.1/32 scram-sha-256
`;

let postgres: Postgres;
let folder: string;

beforeAll(async () => {
  postgres = await startPostgres();
  folder = await mkdtemp(join(tmpdir(), "perennial-tls-"));
  await writeFile(join(folder, "ca.pem"), certificate);
  const data = join(postgres.directory, "data");
  const { uid, gid } = await stat(data);
  for (const [name, content] of Object.entries({
    "server.crt": certificate,
    "server.key": key,
    "pg_hba.conf": access,
  })) {
    await writeFile(join(data, name), content);
    await chmod(join(data, name), 0o600);
    await chown(join(data, name), uid, gid);
  }
  const superuser = new pg.Client(postgres.superuserUrl);
  await superuser.connect();
  await superuser.query("ALTER SYSTEM SET ssl = on");
  await superuser.query("SELECT pg_reload_conf()");
  await superuser.end();
});

afterAll(async () => {
  await postgres.release();
  await rm(folder, { recursive: true });
});

/** With the host name of the certificate. */
function urls(parameters: string) {
  const given = (url: string) => `${url.replace("127.0.0.1", "localhost")}${parameters}`;
  return { webUrl: given(postgres.webUrl), ownerUrl: given(postgres.ownerUrl) };
}

function environment(parameters: string) {
  const { webUrl, ownerUrl } = urls(parameters);
  return { DATABASE_URL: webUrl, DATABASE_OWNER_URL: ownerUrl };
}

// Most providers show a URL with "require".
it.each(["verify-full", "require"])("stores sign-ups with sslmode=%s and the authority's file", async (mode) => {
  const parameters = `?sslmode=${mode}&sslrootcert=${join(folder, "ca.pem")}`;
  const site = await startSite({ env: environment(parameters) });
  const body = JSON.stringify({ name: "Ada", email: `${mode}@example.com`, company: "Engines" });
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(`${site.url}/api/earlyaccess`, { method: "POST", headers, body });
  expect(response.status).toBe(201);
  expect(await site.stop()).toBe(0);
  expect(site.stderr()).toBe("");
  expect(await runBuiltWaitlist(urls(parameters), ["export"])).toMatchObject({ code: 0, stderr: "" });
});

describe("the start ends with one sentence", () => {
  it.each([
    [
      "without TLS",
      "",
      /^Postgres at localhost:\d+ does not let this role in: .* end its URL with \?sslmode=verify-full\.\n$/,
    ],
    [
      "with an unknown authority",
      "?sslmode=require",
      /^Postgres at localhost:\d+ shows a certificate that is not trusted .*sslrootcert=.*\n$/,
    ],
  ])("%s", async (_, parameters, message) => {
    const site = runSite({ env: environment(parameters) });
    expect(await once(site.process, "exit")).toEqual([1, null]);
    expect(site.stderr()).toMatch(message);
  });

  it("with another host name than the certificate's", async () => {
    const parameters = `?sslmode=verify-full&sslrootcert=${join(folder, "ca.pem")}`;
    const env = Object.fromEntries(
      Object.entries(environment(parameters)).map(([name, url]) => [name, url.replace("localhost", "127.0.0.1")]),
    );
    const site = runSite({ env });
    expect(await once(site.process, "exit")).toEqual([1, null]);
    expect(site.stderr()).toMatch(/ERR_TLS_CERT_ALTNAME_INVALID/);
  });
});
