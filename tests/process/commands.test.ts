// The commands migrate and studio.
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { request, type IncomingMessage } from "node:http";
import { connect, createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { projectRoot } from "../../server/config/project-root.ts";
import { freePort } from "../../server/database/embedded/free-port.ts";
import { createEmptyDatabase, superuserUrl } from "../support/database.ts";
import { queryAs } from "../support/postgres.ts";
import { urlsOf, runBuiltWaitlist, within } from "../support/run.ts";
import { startStudio } from "../support/site.ts";

const database = await createEmptyDatabase();
const urls = { ...urlsOf(database), DATABASE_ADMIN_URL: database.adminRoleUrl };

const migrate = (changes: Record<string, string> = {}, ...args: string[]) =>
  runBuiltWaitlist(database, args, { ...urls, ...changes }, join(projectRoot, "dist/server/migrate.js"));

it("migrate applies migrations, unless it only prints SQL, and the next time reports that the database is up to date, or what is wrong with it", async () => {
  expect((await migrate({}, "--print-sql")).stdout).toMatch(/^-- As an administrator of Postgres:\nCREATE ROLE /);
  const first = await migrate();
  expect(first).toMatchObject({ code: 0, stderr: "" });
  expect(first.stdout).toMatch(/^(?:Applied \d{14}_\w+\.\n)+$/);
  expect(await migrate()).toEqual({ code: 0, stdout: "The database is up to date.\n", stderr: "" });
  await database.asSuperuser("GRANT CREATE ON SCHEMA public TO PUBLIC");
  expect((await migrate()).stdout).toMatch(/^Warning: .* may read or change entries/);
  await database.asSuperuser(`REVOKE CREATE ON SCHEMA public FROM PUBLIC; ALTER ROLE ${database.name}_web NOLOGIN`);
  const { code, stdout } = await migrate();
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^Warning: Sign-ups get 503: .* not permitted to log in/)]);
  await database.asSuperuser(`ALTER ROLE ${database.name}_web LOGIN`);
});

/** Whether a login alone takes a millisecond depends on the machine. */
const noTime = "has no time for a statement";

/**
 * What became of the roles that migrating created before, also by their own hand, and what migrating again warns of: for every role, or for
 * the site's only, which must be able to store a sign-up.
 */
const states: [state: string, change: string, warning?: RegExp | undefined, ofWeb?: RegExp][] = [
  ["has all rights", "SELECT"],
  ["lost its rights", "REVOKE ALL ON ALL TABLES IN SCHEMA public FROM :role"],
  ["may not connect", "REVOKE CONNECT ON DATABASE :name FROM PUBLIC, :role"],
  [
    "names a library that does not exist",
    "ALTER ROLE :role IN DATABASE :name SET local_preload_libraries = 'nonexistent'",
    /cannot be reached: 58P01\. .*: ALTER ROLE ":role" RESET ALL; ALTER ROLE ":role" IN DATABASE ":name" RESET ALL\./,
  ],
  [
    "names a library that the server refuses, with a line of its own",
    String.raw`ALTER ROLE :role SET local_preload_libraries = E'"/x\nWarning: run this"'`,
    /access to library .*\?Warning: run this.* not allowed\. Migrate: .*: ALTER ROLE ":role" RESET ALL;/,
  ],
  [
    noTime,
    "ALTER ROLE :role SET statement_timeout = '1ms'",
    undefined,
    /(?:canceling statement due to statement timeout|57014)\. .*: ALTER ROLE ":role" RESET ALL;/,
  ],
  [
    "may only read",
    "ALTER ROLE :role SET default_transaction_read_only = on",
    undefined,
    /in a read-only transaction\. .*: ALTER ROLE ":role" RESET ALL;/,
  ],
  [
    "has another password",
    "ALTER ROLE :role PASSWORD 'a password that is not set'",
    /refuses the connection: password authentication failed .*: ALTER ROLE ":role" LOGIN VALID UNTIL 'infinity' PASSWORD/,
  ],
  ["is absent", "DROP OWNED BY :role; DROP ROLE :role"],
];

const roles: [role: string, start: string][] = [
  ["web", "Sign-ups get 503: "],
  ["admin", 'The role of DATABASE_ADMIN_URL, ":role", cannot log in: '],
  ["worker", 'The role of WORKER_DATABASE_URL, ":role", cannot log in: '],
];

const withWorker = { ...urls, WORKER_DATABASE_URL: database.workerUrl, WEBHOOK_URL: "http://127.0.0.1:2/hook" };
let rolesExist: ReturnType<typeof migrate> | undefined;

it.each(states)(
  "migrate warns of what keeps a role of the site, the admins or the worker from its work, and exits with 0: it %s",
  async (state, change, ofAll, ofWeb) => {
    expect(await (rolesExist ??= migrate(withWorker))).toMatchObject({ code: 0 });
    const fill = (name: string, text: string) =>
      text.replaceAll(":role", `${database.name}_${name}`).replaceAll(":name", database.name);
    const asSuperuser = async (sql: string) => {
      for (const [name] of roles) await database.asSuperuser(fill(name, sql));
    };
    const mend = "ALTER ROLE :role RESET ALL; ALTER ROLE :role IN DATABASE :name RESET ALL";
    onTestFinished(() => asSuperuser(mend));
    await asSuperuser(change);
    const { code, stdout, stderr } = await migrate(withWorker);
    expect([code, stderr]).toEqual([0, ""]);
    for (const [name, start] of roles) {
      const warning = name === "web" ? (ofAll ?? ofWeb) : ofAll;
      const own = stdout.split("\n").find((line) => line.startsWith(`Warning: ${fill(name, start)}`));
      if (name === "web" || state !== noTime) expect([name, own !== undefined]).toEqual([name, warning !== undefined]);
      if (warning) expect(own).toMatch(new RegExp(fill(name, warning.source)));
    }
  },
);

it("migrate reports exchanged URLs, and exits with 1", async () => {
  const { code, stderr } = await migrate({ DATABASE_URL: database.ownerUrl, DATABASE_OWNER_URL: database.webUrl });
  const remedy = "Name the owner in DATABASE_OWNER_URL; --print-sql prints how an administrator prepares one.";
  const role = new URL(database.webUrl).username;
  expect([code, stderr]).toEqual([1, `Nothing was migrated: "${role}" may not migrate. ${remedy}\n`]);
});

it("migrate refuses the owner as the web role in production, and changes nothing, but a superuser only with a warning", async () => {
  const empty = await createEmptyDatabase();
  const production = { ...urlsOf(empty), NODE_ENV: "production" };
  const refusal = /^The role of DATABASE_URL, .* superuser or the owner[^]*set ALLOW_PRIVILEGED_ROLE=true\.\n$/;
  const migrateAs = (webUrl: string) => migrate({ ...production, DATABASE_URL: webUrl });
  expect(await migrateAs(empty.ownerUrl)).toEqual({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(refusal) as string,
  });
  expect(await empty.query("SELECT FROM pg_tables WHERE schemaname = 'public'")).toEqual([]);
  const { code, stdout } = await migrateAs(superuserUrl(empty.name));
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^Warning: Sign-ups get 503: .* is a superuser/m)]);
});

it("migrate says that a server is read-only, and prints the SQL for an administrator if the owner cannot create a role", async () => {
  const { name, asSuperuser, ...empty } = await createEmptyDatabase();
  await asSuperuser(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  const { code, stderr } = await migrate(urlsOf(empty));
  expect([code, stderr]).toEqual([1, expect.stringMatching(/\. This server is read-only: name the primary one\.\n$/)]);
  await queryAs(superuserUrl("postgres"), `ALTER DATABASE ${name} RESET ALL; ALTER ROLE ${name}_owner NOCREATEROLE`);
  expect(await migrate(urlsOf(empty))).toEqual({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("As an administrator of this database, run what is missing of:") as string,
  });
});

it("studio listens on the loopback address only, and refuses requests from other sites", async () => {
  const studio = await startStudio({ ...urls, NODE_ENV: "production" });
  const port = Number(new URL(studio.url).port);
  const [own, other] = [`localhost:${port}`, `example.com:${port}`];
  expect(await send("127.0.0.1", port, own, `http://${own}`)).toBe(200);
  expect(await send("127.0.0.1", port, own, `http://${other}`)).toBe(403);
  expect(await send("127.0.0.1", port, own, "null")).toBe(403);
  expect(await send("127.0.0.1", port, other, `http://${other}`)).toBe(403);
  expect((await fetch(studio.url)).headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  const listening = ["tcp", "tcp6"].map((name) => readFile(`/proc/net/${name}`, "utf8"));
  const hexPort = port.toString(16).toUpperCase().padStart(4, "0");
  const local = new RegExp(`(?<=^ *\\d+: )\\w+(?=:${hexPort} \\w+:0000 0A)`, "gm");
  expect((await Promise.all(listening)).join("").match(local)).toEqual(["0100007F"]);
  expect(await studio.stop("SIGINT")).toBe(0);
  await expect(fetch(studio.url), "Studio outlives its command").rejects.toThrow("fetch failed");
});

it("studio --forward forwards the same port of the other addresses, as a container needs", async () => {
  const studio = await startStudio(urls, "--forward");
  const { port } = new URL(studio.url);
  for (const ip of ips()) {
    const status = () => send(ip, Number(port), `localhost:${port}`, `http://localhost:${port}`);
    await vi.waitFor(async () => expect(await status()).toBe(200), 20_000); // The forward may listen after Studio.
  }
  expect(await studio.stop()).toBe(0);
  await expect(fetch(studio.url), "Studio outlives its command").rejects.toThrow("fetch failed");
});

it("Studio ends with its command also if that fails, as with --forward and a taken port", async () => {
  const port = await freePort();
  const other = createServer().listen(port, ips()[0]);
  onTestFinished(() => void other.close());
  await startStudio(urls, "--forward", "--port", `${port}`).catch(() => undefined);
  const isGone = () => {
    // Not fetch: its one connection, used again and again, would keep Studio alive.
    const socket = connect(port, "127.0.0.1");
    const connected = once(socket, "connect").then(
      () => false,
      () => true,
    );
    return connected.finally(() => socket.destroy());
  };
  await expect.poll(isGone, { timeout: 20_000, message: "Studio outlives its command" }).toBe(true);
});

/** The IPv4 addresses of this machine in its networks. */
const ips = () =>
  Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal, family }) => !internal && family === "IPv4")
    .map(({ address }) => address);

async function send(ip: string, port: number, host: string, origin: string): Promise<number | undefined> {
  const sent = request({ host: ip, port, path: "/bff", method: "POST", headers: { host, origin } });
  sent.end('{"procedure":"query","query":{"sql":"SELECT 1","parameters":[]}}');
  const [response] = (await within("the response", once(sent, "response"))) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}
