// Webhooks: from the entry through the queue to a receiver.
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pg from "pg";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { migrate } from "../../server/database/migrate.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { killedAfterEach } from "../support/killed-after-each.ts";
import { queryAs } from "../support/query.ts";
import { openReceiver, type Received, type Receiver } from "../support/receiver.ts";
import { runWorker } from "../support/site.ts";
import { until } from "../support/until.ts";
import { runWaitlist } from "../support/waitlist.ts";
import * as support from "../support/worker.ts";

let database: TestDatabase;
let receiver: Receiver;

beforeEach(async () => {
  database = await createTestDatabase("webhook");
  receiver = await openReceiver();
});

afterEach(() => receiver.close());

const running = killedAfterEach();

const secret = `whsec_${Buffer.alloc(32, "key").toString("base64")}`;

const settings = () => ({
  DATABASE_URL: database.webUrl,
  DATABASE_OWNER_URL: database.ownerUrl,
  WORKER_DATABASE_URL: database.workerUrl,
  WEBHOOK_URL: receiver.url,
});

const startWorker = (env: Record<string, string> = {}) => support.startWorker({ ...settings(), ...env });
const openSignUps = () => support.openSignUps(database);
const emptied = () => support.emptied(database);
const insert = (email: string, more = "") =>
  queryAs(
    database.webUrl,
    `INSERT INTO earlyaccess (id, name, email, company${more && ", " + more})
     VALUES (gen_random_uuid(), 'Ada Lovelace', '${email}', 'Engines'${more && ", true"})`,
  );

const texts = () => receiver.received.map(({ body }) => (JSON.parse(body) as { text: string }).text);

it("the worker sends one webhook for each new sign-up, and none for a duplicate", async () => {
  await startWorker();
  const signUp = await openSignUps();
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
});

it("the worker sends none for a flagged entry", async () => {
  await startWorker();
  for (const flag of ["suspected_spam", "disposable_email", "unusual_volume"]) {
    await insert(`${flag}@example.com`, flag);
  }
  await emptied();
  expect(texts()).toEqual([]);
});

it("the worker signs JSON by Standard Webhooks, without anything about the person", async () => {
  await startWorker({ WEBHOOK_SECRET: secret });
  const signUp = await openSignUps();
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

it("the worker sends a webhook for the confirmation, under an id of its own", async () => {
  await startWorker({ WEBHOOK_SECRET: secret });
  const signUp = await openSignUps();
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

describe("a receiver that", () => {
  it.each([500, 302])("answers %i gets a retry, and sign-ups work meanwhile", async (status) => {
    receiver.answer(status);
    const worker = await startWorker();
    const signUp = await openSignUps();
    expect(await signUp("ada@example.com")).toBe(201);
    await receiver.reached(1);
    const message = new RegExp(`attempt 1 of 25\\) with error 'The receiver answered ${status}'"`);
    await until("the failure is logged", () => message.test(worker.log()));
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
    const signUp = await openSignUps();
    expect(await signUp("ada@example.com")).toBe(201);
    await until("the failure is logged", () => worker.log().includes("The receiver cannot be reached: ECONNREFUSED"));
    expect(worker.log()).not.toContain(receiver.url);
    receiver = await openReceiver(Number(new URL(receiver.url).port));
    await receiver.reached(1);
    await emptied();
    expect(texts()).toEqual(["Somebody from Engines joined the early access list."]);
  });
});

describe("workers", () => {
  it("do not both send, and the second takes over when the first is killed", async () => {
    receiver.answer(0);
    const first = runWorker(settings());
    running.push(first);
    await until("the first started", () => first.stdout().includes("worker started"));
    const second = await startWorker();
    expect(second.log()).toContain("another worker runs; waiting for its end");
    await insert("ada@example.com");
    await receiver.reached(1);
    receiver.answer(200);
    await first.stop("SIGKILL"); // During the request: it is unknown whether the receiver took it.
    await receiver.reached(2);
    await emptied();
    await insert("bob@example.com");
    await receiver.reached(3);
    await emptied();
    expect(receiver.received).toHaveLength(3);
  });

  it("end when Postgres ends their connections, and the next one sends what waits", async () => {
    const first = runWorker(settings());
    running.push(first);
    await until("the first started", () => first.stdout().includes("worker started"));
    const ended = once(first.process, "exit");
    await queryAs(
      database.workerUrl,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE usename = current_user AND datname = current_database() AND pid <> pg_backend_pid()`,
    );
    expect(await ended).toEqual([1, null]);
    await insert("ada@example.com");
    await startWorker();
    await receiver.reached(1);
    await emptied();
    expect(receiver.received).toHaveLength(1);
  });

  it("do not send twice when the first is stopped during a request", async () => {
    receiver.answer(200, 1_000);
    const first = await startWorker();
    const second = await startWorker();
    await insert("ada@example.com");
    await receiver.reached(1);
    await first.stop();
    await until("the second started", () => second.log().includes("worker started"));
    await emptied();
    expect(receiver.received).toHaveLength(1);
  });

  it("say which setting or migration is missing", async () => {
    await expect(startWorker({ WEBHOOK_URL: "" })).rejects.toThrow(
      /^The worker has no task\. .*WEBHOOK_URL.*MAIL_FROM.*RETENTION_MONTHS/,
    );
    await database.query("DROP SCHEMA graphile_worker CASCADE");
    await expect(startWorker()).rejects.toThrow(/^There is no queue yet\. /);
  });
});

describe("the queue", () => {
  it("holds nothing about a person, and no webhook is sent for an erased or imported entry", async () => {
    const signUp = await openSignUps();
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

  it("fails no sign-up when it is broken", async () => {
    await database.query("DROP SCHEMA graphile_worker CASCADE");
    const signUp = await openSignUps();
    expect(await signUp("ada@example.com")).toBe(201);
    expect(await database.query("SELECT company FROM earlyaccess")).toEqual([{ company: "Engines" }]);
    await migrate(database); // Creates it again.
    await startWorker();
    expect(await signUp("bob@example.com", { company: "Bobs" })).toBe(201);
    await receiver.reached(1);
    expect(texts()).toEqual(["Somebody from Bobs joined the early access list."]);
  });

  it("fails no sign-up when it is locked, and one transaction waits once for it", async () => {
    const signUp = await openSignUps();
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
    const signUp = await openSignUps();
    expect(await signUp("ada@example.com")).toBe(201);
    expect(await database.query("SELECT FROM graphile_worker.jobs")).toEqual([]);
    await migrate({ ...silent, ...(worker && { worker }) });
    expect(await signUp("bob@example.com")).toBe(201);
    expect(await database.query("SELECT FROM graphile_worker.jobs")).toHaveLength(1);
  });

  it("leaves the web role with INSERT alone, and the worker without names and addresses", async () => {
    expect((await migrate(database)).webRole).toBe("restricted");
    const denied = { code: "42501" };
    await expect(queryAs(database.webUrl, "SELECT * FROM graphile_worker.jobs")).rejects.toMatchObject(denied);
    await expect(queryAs(database.webUrl, "SELECT graphile_worker.add_job('x')")).rejects.toMatchObject(denied);
    for (const sql of [
      "SELECT email FROM earlyaccess",
      "SELECT name FROM earlyaccess",
      "SELECT * FROM earlyaccess",
      "UPDATE earlyaccess SET status = 'left'",
      "DELETE FROM earlyaccess",
      "INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'A', 'a@b.co', 'C')",
      "CREATE TABLE mine (x int)",
    ]) {
      await expect(queryAs(database.workerUrl, sql), sql).rejects.toMatchObject(denied);
    }
    await queryAs(database.workerUrl, "SELECT id, company FROM earlyaccess");
  });
});
