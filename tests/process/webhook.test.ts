// Webhooks: from the entry through the queue to a receiver.
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { Webhook } from "standardwebhooks";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { sourceColumns } from "../../server/database/columns.ts";
import { migrate } from "../../server/database/migrate.ts";
import { timeLimits } from "../../server/config/time-limits.ts";
import { listen } from "../../server/http/listen.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { queryAs, withClient } from "../support/postgres.ts";
import { until, within } from "../support/run.ts";
import { runWaitlist } from "../support/waitlist-fixture.ts";
import * as support from "../support/worker.ts";

let database: TestDatabase;
/** The requests that the receiver got, in order, and the status of its responses; 0 sends none. */
let received: { headers: IncomingHttpHeaders; body: string }[];
let status: number;
/** The responses that were not sent. */
let open: ServerResponse[];
let receiver: Server;
let url: string;
let signUp: support.SignUp;

beforeEach(async () => {
  database = await createTestDatabase("webhook");
  signUp = await support.openSignUps(database);
  received = [];
  status = 202; // Any 2xx is a success.
  open = [];
  await openReceiver();
});

/** @param port 0 for any; the port of a closed receiver reopens it. */
async function openReceiver(port = 0): Promise<void> {
  receiver = createServer((req, res) => {
    void (async () => {
      received.push({ headers: req.headers, body: await text(req) });
      if (status > 0) res.writeHead(status, { Location: "/other" }).end("ok");
      else open.push(res);
    })();
  });
  url = `http://127.0.0.1:${await listen(receiver, "127.0.0.1", port)}/hook`;
  onTestFinished(closeReceiver);
}

function closeReceiver(): void {
  receiver.closeAllConnections();
  receiver.close();
}

const settings = () => ({
  DATABASE_URL: database.webUrl,
  DATABASE_OWNER_URL: database.ownerUrl,
  WORKER_DATABASE_URL: database.workerUrl,
  WEBHOOK_URL: url,
});

const startWorker = (env: Record<string, string> = {}) => support.startWorker({ ...settings(), ...env });
const emptied = () => support.emptied(database);
const reached = (count: number) => until(`${count} webhooks`, () => received.length >= count);

it("the worker sends one webhook for each new sign-up and each confirmation, and none for a duplicate or a flagged entry", async () => {
  await startWorker();
  const source = { utm_source: "letter", utm_campaign: "spring", referrer: "https://news.example/a" };
  expect(await signUp("ada@example.com", { source })).toBe(201);
  await reached(1);
  expect(await signUp("ADA@example.com")).toBe(201);
  expect(await signUp("bot@example.com", { message: "Buy this" })).toBe(201);
  expect(await signUp("bob@example.com", { company: "<!channel> & @all" })).toBe(201);
  await reached(2);
  await database.query("UPDATE earlyaccess SET confirmed_at = now() WHERE email = 'bob@example.com'");
  await reached(3);
  await emptied();
  expect(received.map(({ body }) => (JSON.parse(body) as { text: string }).text)).toEqual([
    "Somebody from Engines joined the early access list (source letter, campaign spring, from news.\u200Bexample).",
    "Somebody from &lt;!channel&gt; &amp; @\u200Ball joined the early access list.",
    "Somebody from &lt;!channel&gt; &amp; @\u200Ball confirmed their address.",
  ]);
});

it("the worker signs JSON by Standard Webhooks, without anything about the person, also for a confirmation and its second attempt", async () => {
  const secret = `whsec_${Buffer.alloc(32, "key").toString("base64")}`;
  await startWorker({ WEBHOOK_SECRET: secret });
  expect(await signUp("ada@example.com")).toBe(201);
  await reached(1);
  status = 500;
  const [first = {}] = await database.query("UPDATE earlyaccess SET confirmed_at = now() RETURNING now()");
  await database.query("UPDATE earlyaccess SET confirmed_at = now()"); // The second click.
  await reached(2);
  status = 200;
  await reached(3);
  await emptied();
  const [joined, confirmed, ...again] = received.map(({ body, headers }) => ({
    id: headers["webhook-id"],
    event: new Webhook(secret).verify(body, headers as Record<string, string>),
  }));
  const rows = await database.query(`SELECT id, company, created_at, ${sourceColumns.join(", ")} FROM earlyaccess`);
  const [data] = JSON.parse(JSON.stringify(rows)) as { id: string; created_at: string }[];
  expect(joined).toEqual({ id: data?.id, event: { type: "waitlist.joined", timestamp: data?.created_at, data } });
  const timestamp = (first.now as Date).toISOString();
  expect(confirmed).toMatchObject({
    id: `${data?.id}-confirmed`,
    event: { type: "waitlist.confirmed", timestamp, data },
  });
  expect(again).toEqual([confirmed]);
  expect(JSON.stringify(received)).not.toMatch(/\bada\b|lovelace/i);
});

it("the worker sends webhooks that failed when the receiver works again, and logs no secret URL", async () => {
  status = 307; // Not followed.
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => timeout(ms === 10_000 ? 2_000 : 3_600_000));
  const worker = await startWorker();
  const failed = (message: string) => until(`the log has "${message}"`, () => worker.log().includes(message));
  expect(await signUp("ada@example.com")).toBe(201);
  await failed("attempt 1 of 25) with error 'The receiver answered 307'");
  status = 0;
  expect(await signUp("eve@example.com")).toBe(201);
  await failed("The receiver cannot be reached: TimeoutError");
  closeReceiver();
  expect(await signUp("bob@example.com")).toBe(201);
  await failed("The receiver cannot be reached: ECONNREFUSED");
  expect(worker.log()).not.toContain(url);
  // Before the receiver works again: the worker tries each of them again every few seconds.
  const giveUp = `UPDATE graphile_worker._private_jobs SET run_at = now() + interval '1 day', attempts = 25
    WHERE last_error IS NOT NULL AND locked_at IS NULL RETURNING id`;
  await until("three failures are recorded", async () => (await database.query(giveUp)).length === 3);
  received = [];
  status = 200;
  await openReceiver(Number(new URL(url).port));
  expect((await runWaitlist(database, ["retry"], settings())).stdout).toContain("tried again: 3.");
  await reached(3);
  await emptied();
  expect(received).toHaveLength(3);
});

it("a worker sends what waited since Postgres ended the connections of an earlier one; a second one takes over only when it is killed", async () => {
  const earlier = await support.startWorkerProcess(settings());
  const ended = once(earlier.process, "exit");
  await queryAs(
    database.workerUrl,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE usename = current_user AND datname = current_database() AND pid <> pg_backend_pid()`,
  );
  expect(await within("the end of the earlier worker", ended)).toEqual([1, null]);
  status = 0;
  expect(await signUp("ada@example.com")).toBe(201);
  const first = await support.startWorkerProcess(settings());
  const second = await startWorker();
  expect(second.log()).toContain("another worker runs; waiting for its end");
  await (await startWorker()).stop(); // One that waits.
  await reached(1);
  await sleep(6_000);
  expect(second.log()).not.toContain("worker started");
  status = 200;
  await first.stop("SIGKILL"); // During the request: it is unknown whether the receiver took it.
  await reached(2);
  expect(await signUp("bob@example.com")).toBe(201);
  await reached(3);
  await emptied();
  expect(received).toHaveLength(3);
});

it("a stopped worker completes the webhook in progress, so that it arrives once, and waits for one that hangs for a round only", async () => {
  status = 0;
  const jobs = () => database.query("SELECT last_error FROM graphile_worker.jobs");
  const worker = await startWorker();
  expect(await signUp("ada@example.com")).toBe(201);
  await reached(1);
  setTimeout(() => open[0]?.end(), 500);
  await worker.stop();
  expect(await jobs()).toEqual([]);
  const next = await support.startWorker(settings(), 500);
  expect(await signUp("bob@example.com")).toBe(201);
  await reached(2);
  await next.stop();
  expect(await jobs()).toEqual([{ last_error: null }]);
});

it("the queue holds nothing about a person", async () => {
  expect(await signUp("ada@example.com")).toBe(201);
  const [{ id } = {}] = await database.query("SELECT id FROM earlyaccess");
  const jobs = await database.query("SELECT payload, key, flags FROM graphile_worker._private_jobs");
  expect(jobs).toEqual([{ payload: { entry: id, confirmed: false }, key: null, flags: null }]);
});

it("the queue gets no jobs once webhooks are no longer configured", async () => {
  await migrate({ ownerUrl: database.ownerUrl, webUrl: database.webUrl });
  expect(await signUp("eve@example.com")).toBe(201);
  expect(await database.query("SELECT FROM graphile_worker._private_jobs")).toEqual([]);
});

it("the queue fails no sign-up and no confirmation when it is locked or broken, and gets the next sign-up of the same connection once it works again", async () => {
  await database.query(`SET earlyaccess.silent = 'on';
    INSERT INTO earlyaccess (id, name, email, company, mail_tokens)
    SELECT gen_random_uuid(), 'Ada', i || '@example.com', 'Engines', ARRAY[sha256(i::text::bytea)] FROM generate_series(1, 10) i`);
  const confirmAll = `SET statement_timeout = ${timeLimits.statement};
    SELECT bool_and(earlyaccess_confirm(sha256(i::text::bytea))) AS confirmed FROM generate_series(1, 10) i`;
  await withClient(database.workerUrl, async (client) => {
    await client.query("BEGIN; LOCK TABLE graphile_worker._private_jobs IN ACCESS EXCLUSIVE MODE");
    const names = Array.from({ length: 8 }, (_, i) => `bob${i}@example.com`);
    expect(new Set(await Promise.all(names.map((name) => signUp(name))))).toEqual(new Set([201]));
    expect(await queryAs(database.webUrl, confirmAll)).toEqual([{ confirmed: true }]);
  });
  await database.query("ALTER SCHEMA graphile_worker RENAME TO broken");
  expect(await signUp("eve@example.com")).toBe(201);
  expect(await database.query("SELECT FROM earlyaccess")).toHaveLength(19);
  await database.query("ALTER SCHEMA broken RENAME TO graphile_worker");
  expect(await signUp("zoe@example.com")).toBe(201);
  expect(await database.query("SELECT FROM graphile_worker._private_jobs")).toHaveLength(1);
});
