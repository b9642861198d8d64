// The built server while its database is unavailable, and its shutdown.
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { connect, createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { projectRoot } from "../../server/config/project-root.ts";
import { superuserUrl } from "../support/database.ts";
import { run, urlsOf, until, within } from "../support/run.ts";
import { ada, ready, signUp } from "../support/site.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";
import { openWire } from "../support/tcp-proxy.ts";

const { database, start } = await createWaitlistFixture();

/** Returns the exit code of the image's health check. */
const checkHealth = async (url: string) =>
  (await run(["bash", join(projectRoot, "server/health-check.sh")], { PORT: new URL(url).port })).code;

it("a site whose database is down at the start, or hangs later, serves its pages, and stores sign-ups once it is back", async () => {
  const wire = await openWire(database.webUrl);
  await wire.cut();
  const site = await start({ env: { DATABASE_URL: wire.url(database.webUrl) } });
  for (const fault of [() => undefined, wire.stall]) {
    fault();
    expect(await signUp(site)).toBe(503);
    expect((await fetch(`${site.url}/readyz`)).status).toBe(503);
    expect((await fetch(site.url)).status).toBe(200);
    expect(await checkHealth(site.url)).toBe(0);
    await wire.mend();
    await until("the site is ready", async () => (await fetch(`${site.url}/readyz`)).ok, 15);
    expect(await signUp(site)).toBe(201);
  }
  expect(await site.stop()).toBe(0);
  expect(site.stderr()).toBe("");
  expect(await checkHealth(site.url)).toBe(1);
  await wire.cut();
});

it("a site whose database was down at the start stores nothing if it then finds that the web role is a superuser", async () => {
  const wire = await openWire(database.webUrl);
  await wire.cut();
  const env = { NODE_ENV: "production", DATABASE_URL: wire.url(superuserUrl(database.name)) };
  const site = await start({ env });
  await wire.mend();
  const early = { ...ada, email: "early@example.com" };
  expect(await signUp(site, early)).toBe(503);
  await until("the log says why", () => site.stdout().includes("is a superuser"));
  expect(await signUp(site, early)).toBe(503);
  expect(await database.query("SELECT FROM earlyaccess WHERE email = 'early@example.com'")).toEqual([]);
  await wire.cut();
});

it("a log that nobody reads keeps 4 MB of lines at most", async () => {
  const site = await start({ env: urlsOf(database) });
  site.process.stdout?.pause();
  const head = `HEAD /${"x".repeat(200)} HTTP/1.1\r\nHost: localhost\r\n`;
  const requests = `${`${head}\r\n`.repeat(999)}${head}Connection: close\r\n\r\n`;
  const send = async () => {
    const socket = connect(Number(new URL(site.url).port), "127.0.0.1");
    socket.write(requests);
    await once(socket.resume(), "end");
  };
  for (let i = 0; i < 18; i++) await within("the responses", send());
  site.process.stdout?.resume();
  expect(await site.stop()).toBe(0);
  expect(site.stdout().length).toBeGreaterThan(3_500_000);
  expect(site.stdout().length).toBeLessThan(4_500_000); // Of 6 MB.
});

it("SIGTERM ends a site whose database is starting", async () => {
  const message = Buffer.from("SFATAL\0C57P03\0Mstarting\0\0");
  const refusal = Buffer.concat([Buffer.from([0x45, 0, 0, 0, message.length + 4]), message]);
  const postgres = createServer((socket) => socket.once("data", () => socket.end(refusal))).listen(0, "127.0.0.1");
  onTestFinished(() => void postgres.close());
  await once(postgres, "listening");
  const { port } = postgres.address() as AddressInfo;
  const site = await start({ env: { DATABASE_URL: `postgresql://web:secret@127.0.0.1:${port}/nothing` } });
  await until("the log says why", () => site.stdout().includes('"code":"57P03"'));
  expect(await site.stop()).toBe(0);
});

it("SIGTERM lets sign-ups in progress be stored, also one whose body arrives 8 s later", async () => {
  const site = await start({ env: urlsOf(database), log: "/dev/full" });
  await ready(site);
  await database.query(`
    CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1.5); RETURN NEW; END $$;
    CREATE TRIGGER wait BEFORE INSERT ON earlyaccess FOR EACH ROW WHEN (NEW.email ~ '^last') EXECUTE FUNCTION wait()`);
  const body = JSON.stringify({ ...ada, email: "slow@example.com" });
  const headers = { "Content-Type": "application/json", "Content-Length": body.length };
  const slow = request(`${site.url}/api/earlyaccess`, { method: "POST", headers });
  slow.flushHeaders();
  const signedUp = signUp(site, { ...ada, email: "last@example.com" });
  const waiting = "SELECT FROM pg_locks WHERE relation = 'earlyaccess'::regclass AND mode = 'RowExclusiveLock'";
  await until("the sign-up waits", async () => (await database.query(waiting)).length > 0);
  const stopped = site.stop();
  site.process.kill("SIGTERM"); // npm and a terminal together send the signal twice.
  const isOpen = () => fetch(`${site.url}/healthz`, { headers: { Connection: "close" } }).catch(() => false);
  await until("new connections are refused", async () => !(await isOpen()));
  expect(await signedUp).toBe(201);
  await sleep(8_000);
  const [answer] = (await within("the response", once(slow.end(body), "response"))) as [IncomingMessage];
  expect(answer.resume().statusCode).toBe(201);
  expect(await stopped).toBe(0);
  expect(await database.query("SELECT FROM earlyaccess WHERE email ~ '^(last|slow)@'")).toHaveLength(2);
});
