// The commands migrate and studio, as npm runs them.
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { connect, createServer, type AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { createEmptyDatabase, type TestDatabase } from "../support/database.ts";
import { runSite, runSource, startStudio } from "../support/site.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createEmptyDatabase();
});

afterAll(() => database.drop());

function urls() {
  return {
    DATABASE_URL: database.webUrl,
    DATABASE_OWNER_URL: database.ownerUrl,
    DATABASE_ADMIN_URL: database.adminRoleUrl,
  };
}

function run([name = "", ...args]: string[], changes: Record<string, string> = {}) {
  return runSite({ env: { ...urls(), ...changes }, command: runSource(`server/commands/${name}`, ...args) });
}

it("migrate applies migrations, and the next time reports that the database is up to date", async () => {
  const first = run(["migrate.ts"]);
  expect(await once(first.process, "exit")).toEqual([0, null]);
  expect(first.stdout()).toMatch(
    /^Applied \d{14}_initial\.\nRan: CREATE ROLE "\w+_web" LOGIN PASSWORD 'its password';\n/,
  );
  const second = run(["migrate.ts"]);
  expect(await once(second.process, "exit")).toEqual([0, null]);
  expect(second.stdout()).toBe("The database is up to date.\n");
});

it("migrate warns if the web role can read the list", async () => {
  const reader = `${new URL(database.webUrl).username}_reader`;
  await database.query(
    `CREATE ROLE ${reader}; GRANT SELECT ON earlyaccess TO ${reader}; GRANT ${reader} TO ${new URL(database.webUrl).username}`,
  );
  const command = run(["migrate.ts"]);
  expect(await once(command.process, "exit")).toEqual([0, null]);
  expect(command.stdout()).toMatch(/^Warning: The role of DATABASE_URL, .* has SELECT on entries: .*\n$/);
  await database.query(`REVOKE ALL ON earlyaccess FROM ${reader}; DROP ROLE ${reader}`);
});

it("migrate reports exchanged URLs, and exits with 1", async () => {
  const exchanged = { DATABASE_URL: database.ownerUrl, DATABASE_OWNER_URL: database.webUrl };
  const command = run(["migrate.ts"], exchanged);
  expect(await once(command.process, "exit")).toEqual([1, null]);
  expect(command.stderr()).toMatch(/superuser or the owner .*\n.* may not migrate\. .*\nNothing was migrated\. .*\n$/);
});

it("migrate reports a wrong password in DATABASE_URL", async () => {
  const changed = new URL(database.webUrl);
  changed.password = "another";
  const command = run(["migrate.ts"], { DATABASE_URL: changed.href });
  expect(await once(command.process, "exit")).toEqual([1, null]);
  expect(command.stderr()).toContain(`does not accept this role's password: role ${changed.username}, `);
});

it("studio listens on the loopback address only", async () => {
  const studio = await startStudio(urls());
  const { port } = new URL(studio.url);
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200);
  const others = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal }) => !internal);
  for (const { address } of others.filter(({ family }) => family === "IPv4")) {
    const [error] = (await once(connect(Number(port), address), "error")) as [NodeJS.ErrnoException];
    expect(error.code).toBe("ECONNREFUSED");
  }
  expect(await studio.stop("SIGINT")).toBe(0);
});

it("studio --forward forwards the same port of the other addresses, as a container needs", async () => {
  const studio = await startStudio(urls(), "--forward");
  const { port } = new URL(studio.url);
  const others = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  for (const { address } of others.filter(({ internal, family }) => !internal && family === "IPv4")) {
    const status = () => send(address, Number(port), `localhost:${port}`, `http://localhost:${port}`);
    await vi.waitFor(async () => expect(await status()).toBe(200), 20_000); // The forward may listen after Studio.
  }
  expect(await studio.stop("SIGTERM")).toBe(0);
});

async function send(address: string, port: number, host: string, origin: string): Promise<number | undefined> {
  const sent = request({ host: address, port, path: "/bff", method: "POST", headers: { host, origin } });
  sent.end('{"procedure":"query","query":{"sql":"SELECT 1","parameters":[]}}');
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

it("studio itself refuses requests from other sites, also if their name resolves to this machine", async () => {
  const studio = await startStudio(urls());
  const port = Number(new URL(studio.url).port);
  const [own, other] = [`localhost:${port}`, `example.com:${port}`];
  expect(await send("127.0.0.1", port, own, `http://${own}`)).toBe(200);
  expect(await send("127.0.0.1", port, own, `http://${other}`)).toBe(403);
  expect(await send("127.0.0.1", port, own, "null")).toBe(403);
  expect(await send("127.0.0.1", port, other, `http://${other}`)).toBe(403);
  expect(await studio.stop()).toBe(0);
});

it("studio ends if its port is taken", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const studio = run(["studio.ts", "--port", String(port)]);
  // "close" comes when Studio's own process has ended as well, as both write to the same stderr.
  expect(await once(studio.process, "close")).toEqual([1, null]);
  expect(studio.stderr()).toContain(`Port ${port} is taken.`);
  server.close();
});

it.each([
  ["--port=none", /^--port takes a port, for example 5556\n$/],
  ["--hots=0.0.0.0", /^Unknown option '--hots'.*\n$/],
])("studio refuses %s", async (option, sentence) => {
  const studio = run(["studio.ts", option]);
  expect(await once(studio.process, "exit")).toEqual([1, null]);
  expect(studio.stderr()).toMatch(sentence);
});
