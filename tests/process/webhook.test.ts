// Webhooks: from the entry through the queue to a receiver, by the built worker.
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { migrate } from "../../server/database/migrate.ts";
import { createEmptyDatabase, type TestDatabase } from "../support/database.ts";
import { killedAfterEach } from "../support/killed-after-each.ts";
import { openReceiver, type Received, type Receiver } from "../support/receiver.ts";
import { ready, runWorker, startSite, type Site } from "../support/site.ts";
import { runWaitlist } from "../support/waitlist.ts";

let database: TestDatabase;
let receiver: Receiver;

beforeEach(async () => {
  const empty = await createEmptyDatabase();
  database = { ...empty, worker: { url: empty.workerUrl, tasks: ["webhook"] } };
  await migrate(database);
  receiver = await openReceiver();
});

afterEach(async () => {
  await receiver.close();
  await database.drop();
});

const running = killedAfterEach(); // Before the database goes: what is registered last comes first.

const secret = `whsec_${Buffer.alloc(32, "key").toString("base64")}`;

const settings = () => ({
  DATABASE_URL: database.webUrl,
  DATABASE_OWNER_URL: database.ownerUrl,
  WORKER_DATABASE_URL: database.workerUrl,
  WEBHOOK_URL: receiver.url,
});

async function startWorker(env: Record<string, string> = {}): Promise<Site> {
  const worker = runWorker({ ...settings(), ...env });
  running.push(worker);
  await logged(worker, /worker started|waiting for its end/);
  return worker;
}

/** The second waits for the end of the first. */
async function startTwoWorkers(): Promise<[Site, Site]> {
  const first = await startWorker();
  const second = await startWorker();
  await logged(second, /another worker runs \(perennial-worker on .+\); waiting for its end/);
  return [first, second];
}

async function logged(site: Site, pattern: RegExp): Promise<void> {
  while (!pattern.test(site.stdout())) {
    await Promise.race([
      once(site.process.stdout as NodeJS.ReadableStream, "data"),
      once(site.process, "exit").then(() => Promise.reject(new Error(`It ended: ${site.stdout()}${site.stderr()}`))),
    ]);
  }
}

type SignUp = (email: string, changes?: Record<string, unknown>) => Promise<number>;

async function startSignUps(env: Record<string, string> = {}): Promise<SignUp> {
  const site = await startSite({ env: { DATABASE_URL: database.webUrl, ...env } });
  running.push(site);
  await ready(site);
  return async (email, changes) => {
    const body = JSON.stringify({ name: "Ada Lovelace", email, company: "Engines", ...changes });
    const headers = { "Content-Type": "application/json" };
    return (await fetch(`${site.url}/api/earlyaccess`, { method: "POST", headers, body })).status;
  };
}

/** Resolves when the queue is empty. */
async function emptied(): Promise<void> {
  const waiting = () => database.query("SELECT FROM graphile_worker.jobs");
  while ((await waiting()).length > 0) await sleep(20);
}

const texts = () => receiver.received.map(({ body }) => (JSON.parse(body) as { text: string }).text);

it("sends one webhook for each new sign-up, and none for a duplicate", async () => {
  const worker = await startWorker();
  const signUp = await startSignUps();
  expect(
    await signUp("ada@example.com", { source: { utm_source: "letter", referrer: "https://news.example/a" } }),
  ).toBe(201);
  await receiver.reached(1);
  expect(await signUp("ADA@example.com")).toBe(201);
  expect(await signUp("bob@example.com", { company: "<!channel> & @all" })).toBe(201);
  await receiver.reached(2);
  await emptied();
  expect(texts()).toEqual([
    "Somebody from Engines joined the early access list (source letter, from news.\u200Bexample).",
    "Somebody from &lt;!channel&gt; &amp; @\u200Ball joined the early access list.",
  ]);
  expect(await worker.stop()).toBe(0);
  expect(worker.stderr()).toBe("");
});

it("sends none for a flagged entry", async () => {
  await startWorker();
  const signUp = await startSignUps({ SIGNUP_HOURLY_CEILING: "2" });
  expect(await signUp("spam@example.com", { message: "buy" })).toBe(201);
  expect(await signUp("gone@mailinator.com")).toBe(201);
  expect(await signUp("crowd@example.com")).toBe(201);
  await emptied();
  expect(texts()).toEqual([]);
});

it("signs JSON by Standard Webhooks, without anything about the person", async () => {
  await startWorker({ WEBHOOK_SECRET: secret });
  const signUp = await startSignUps();
  expect(await signUp("ada@example.com")).toBe(201);
  await receiver.reached(1);
  const { body, headers } = receiver.received[0] as Received;
  const event = new Webhook(secret).verify(body, headers as Record<string, string>);
  const [entry] = await database.query("SELECT id, created_at FROM earlyaccess");
  expect(event).toMatchObject({
    type: "waitlist.joined",
    timestamp: JSON.parse(JSON.stringify(entry?.created_at)),
    data: { id: entry?.id, company: "Engines", referrer_host: null },
  });
  expect(headers["webhook-id"]).toBe(entry?.id);
  expect(body).not.toMatch(/\bada\b|lovelace/i);
});

it("sends a webhook for the confirmation, under an id of its own", async () => {
  await startWorker({ WEBHOOK_SECRET: secret });
  const signUp = await startSignUps();
  expect(await signUp("ada@example.com")).toBe(201);
  await receiver.reached(1);
  await database.query("UPDATE earlyaccess SET confirmed_at = now()");
  await database.query("UPDATE earlyaccess SET confirmed_at = now()"); // The second click.
  await receiver.reached(2);
  await emptied();
  const [joined, confirmed] = receiver.received.map(({ body, headers }) => ({
    id: headers["webhook-id"],
    event: new Webhook(secret).verify(body, headers as Record<string, string>),
  }));
  const data = { company: "Engines" };
  expect(joined).toMatchObject({ event: { type: "waitlist.joined", data } });
  expect(confirmed).toMatchObject({
    id: `${joined?.id as string}-confirmed`,
    event: { type: "waitlist.confirmed", data },
  });
  expect(receiver.received).toHaveLength(2);
});

it("names the company of a confirmed entry in Slack's format", async () => {
  const signUp = await startSignUps();
  expect(await signUp("ada@example.com")).toBe(201);
  await database.query("UPDATE earlyaccess SET confirmed_at = now()");
  await startWorker();
  await receiver.reached(2);
  expect(texts().toSorted()).toEqual([
    "Somebody from Engines confirmed their address.",
    "Somebody from Engines joined the early access list.",
  ]);
});

describe("a receiver that", () => {
  it.each([500, 404, 302])("answers %i gets a retry, and sign-ups work meanwhile", async (status) => {
    receiver.answer(status);
    const worker = await startWorker();
    const signUp = await startSignUps();
    expect(await signUp("ada@example.com")).toBe(201);
    await receiver.reached(1);
    await logged(worker, new RegExp(`attempt 1 of 25\\) with error 'The receiver answered ${status}'"`));
    receiver.answer(200);
    expect(await signUp("bob@example.com", { company: "Bobs" })).toBe(201);
    await receiver.reached(3);
    await emptied();
    expect(texts().toSorted()).toEqual([
      "Somebody from Bobs joined the early access list.",
      "Somebody from Engines joined the early access list.",
      "Somebody from Engines joined the early access list.",
    ]);
  });

  it("is not reachable gets a retry when it is", async () => {
    await receiver.close();
    const worker = await startWorker();
    const signUp = await startSignUps();
    expect(await signUp("ada@example.com")).toBe(201);
    await logged(worker, /The receiver cannot be reached: ECONNREFUSED/);
    expect(worker.stdout()).not.toContain(receiver.url);
    receiver = await openReceiver(Number(new URL(receiver.url).port));
    await receiver.reached(1);
    await emptied();
    expect(texts()).toEqual(["Somebody from Engines joined the early access list."]);
  });
});

describe("workers", () => {
  it("do not both send, and the second takes over when the first is killed", async () => {
    receiver.answer(0);
    const [first] = await startTwoWorkers();
    const signUp = await startSignUps();
    expect(await signUp("ada@example.com")).toBe(201);
    await receiver.reached(1);
    receiver.answer(200);
    await first.stop("SIGKILL"); // During the request: it is unknown whether the receiver took it.
    await receiver.reached(2);
    await emptied();
    expect(await signUp("bob@example.com")).toBe(201);
    await receiver.reached(3);
    await emptied();
    expect(receiver.received).toHaveLength(3);
  });

  it("do not send twice when the first is stopped during a request", async () => {
    receiver.answer(200, 1_000);
    const [first, second] = await startTwoWorkers();
    const signUp = await startSignUps();
    expect(await signUp("ada@example.com")).toBe(201);
    await receiver.reached(1);
    expect(await first.stop()).toBe(0);
    await logged(second, /worker started/);
    await emptied();
    expect(receiver.received).toHaveLength(1);
  });

  it("send what was queued while none ran", async () => {
    const signUp = await startSignUps();
    for (const name of ["ada", "bob", "cleo"]) expect(await signUp(`${name}@example.com`)).toBe(201);
    await startWorker();
    await receiver.reached(3);
    await emptied();
    expect(receiver.received).toHaveLength(3);
  });

  it("say which setting or migration is missing", async () => {
    const nobody = runWorker({ ...settings(), WEBHOOK_URL: "" });
    expect(await once(nobody.process, "close")).toEqual([1, null]);
    expect(nobody.stderr()).toMatch(
      /^The worker has no task\. .*WEBHOOK_URL=.*MAIL_FROM=.*SMTP_URL=.*RETENTION_MONTHS=.*\n$/,
    );
    await database.query("DROP SCHEMA graphile_worker CASCADE");
    const without = runWorker(settings());
    expect(await once(without.process, "close")).toEqual([1, null]);
    expect(without.stderr()).toMatch(/^There is no queue yet\. .*\n$/);
  });
});

describe("the queue", () => {
  it("holds nothing about a person, and no webhook is sent for an erased or imported entry", async () => {
    const signUp = await startSignUps();
    expect(await signUp("ada@example.com")).toBe(201);
    const [job] = await database.query("SELECT row_to_json(j)::text AS job FROM graphile_worker._private_jobs j");
    expect(job?.job).not.toMatch(/\bada\b|lovelace|engines/i);
    expect(await runWaitlist(database, ["erase", "ada@example.com"])).toMatchObject({ code: 0 });
    const list = join(await mkdtemp(join(tmpdir(), "perennial-webhook-")), "list.csv");
    await writeFile(list, "name,email,company\nBob,bob@example.com,Bobs\n");
    expect(await runWaitlist(database, ["import", list])).toMatchObject({ code: 0, stderr: "" });
    await rm(dirname(list), { recursive: true });
    expect(await database.query("SELECT FROM graphile_worker.jobs")).toHaveLength(1);
    await startWorker();
    await emptied();
    expect(receiver.received).toEqual([]);
  });

  it("lets an import run beside the worker", async () => {
    await startWorker();
    const folder = await mkdtemp(join(tmpdir(), "perennial-webhook-"));
    await writeFile(join(folder, "list.csv"), "name,email,company\nBob,bob@example.com,Bobs\n");
    expect(await runWaitlist(database, ["import", join(folder, "list.csv")])).toMatchObject({ code: 0, stderr: "" });
    await rm(folder, { recursive: true });
  });

  it("fails no sign-up when it is broken", async () => {
    await database.query("DROP SCHEMA graphile_worker CASCADE");
    const signUp = await startSignUps();
    expect(await signUp("ada@example.com")).toBe(201);
    expect(await database.query("SELECT company FROM earlyaccess")).toEqual([{ company: "Engines" }]);
    await migrate(database); // Creates it again.
    await startWorker();
    expect(await signUp("bob@example.com", { company: "Bobs" })).toBe(201);
    await receiver.reached(1);
    expect(texts()).toEqual(["Somebody from Bobs joined the early access list."]);
  });

  it("fails no sign-up when it is locked, and one transaction waits once for it", async () => {
    const signUp = await startSignUps();
    expect(await signUp("ada@example.com")).toBe(201);
    const client = new pg.Client(database.workerUrl);
    await client.connect();
    await client.query("BEGIN; LOCK TABLE graphile_worker._private_jobs IN ACCESS EXCLUSIVE MODE");
    const names = Array.from({ length: 8 }, (_, i) => `bob${i}@example.com`);
    expect(new Set(await Promise.all(names.map((name) => signUp(name))))).toEqual(new Set([201]));
    const web = new pg.Client(database.webUrl);
    const warnings: unknown[] = [];
    web.on("notice", ({ message }) => warnings.push(message));
    await web.connect();
    await web.query(`INSERT INTO earlyaccess (id, name, email, company)
      SELECT gen_random_uuid(), 'Eve', 'eve' || i || '@example.com', 'Eves' FROM generate_series(1, 8) i`);
    await web.end();
    expect(warnings).toEqual(["no job for a sign-up: canceling statement due to lock timeout"]);
    await client.end();
    expect(await signUp("cleo@example.com")).toBe(201);
    await startWorker();
    await receiver.reached(2);
    await emptied();
    expect(receiver.received).toHaveLength(2);
  });

  it("is filled only if webhooks are configured", async () => {
    const { worker, ...silent } = database;
    await migrate(silent);
    const signUp = await startSignUps();
    expect(await signUp("ada@example.com")).toBe(201);
    expect(await database.query("SELECT FROM graphile_worker.jobs")).toEqual([]);
    await migrate({ ...silent, ...(worker && { worker }) });
    expect(await signUp("bob@example.com")).toBe(201);
    expect(await database.query("SELECT FROM graphile_worker.jobs")).toHaveLength(1);
  });

  it("leaves the web role with INSERT alone, and the worker without names and addresses", async () => {
    expect((await migrate(database)).webRole).toBe("restricted");
    const denied = { code: "42501" };
    const attempt = async (url: string, sql: string) => {
      const client = new pg.Client(url);
      await client.connect();
      return client.query(sql).finally(() => client.end());
    };
    await expect(attempt(database.webUrl, "SELECT * FROM graphile_worker.jobs")).rejects.toMatchObject(denied);
    await expect(attempt(database.webUrl, "SELECT graphile_worker.add_job('x')")).rejects.toMatchObject(denied);
    for (const sql of [
      "SELECT email FROM earlyaccess",
      "SELECT name FROM earlyaccess",
      "SELECT * FROM earlyaccess",
      "UPDATE earlyaccess SET status = 'left'",
      "DELETE FROM earlyaccess",
      "INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'A', 'a@b.co', 'C')",
      "CREATE TABLE mine (x int)",
    ]) {
      await expect(attempt(database.workerUrl, sql), sql).rejects.toMatchObject(denied);
    }
    await attempt(database.workerUrl, "SELECT id, company FROM earlyaccess");
  });
});
