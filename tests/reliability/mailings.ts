// Mailings through kills of the worker, at their pace, and through restores with the commands of docs/backup.md: nobody gets one twice.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { migrate } from "../../server/database/migrate.ts";
import { hashToken } from "../../server/models/entry-tokens.ts";
import { openMailServer, parseMail, type MailServer } from "../support/mail-server.ts";
import { queryAs } from "../support/postgres.ts";
import { runBuiltWaitlist, runWorker, until, type Site } from "../support/run.ts";
import { withStack, type Stack, type StackScenarios } from "../support/stack.ts";
import { runDocumented, withInstalledPostgres } from "./backups.ts";
import { fill, withSmallDisk } from "./database-faults.ts";

const letter = "Subject: We are open\n\nHi there,\n\nwe are open: https://app.perennial.example\n";
const people = 1_000;
const workerKills = 15;
const paceSeconds = 20;

/** What a scenario must end, also when it fails: either would keep this process. */
interface Delivery {
  server: MailServer;
  workers: Site[];
  isOver: boolean;
}

async function withDelivery<T>(use: (delivery: Delivery) => Promise<T>): Promise<T> {
  const delivery: Delivery = { server: await openMailServer(), workers: [], isOver: false };
  try {
    return await use(delivery);
  } finally {
    delivery.isOver = true;
    for (const worker of delivery.workers) await worker.stop("SIGKILL");
    await delivery.server.close();
  }
}

/** A migrated database with confirmed people, the command mail, and workers. */
async function openList(urls: { ownerUrl: string; webUrl: string }, delivery: Delivery, folder: string) {
  const { server, workers } = delivery;
  const { ownerUrl, webUrl } = urls;
  const role = { username: "perennial_worker", password: "also a long secret" };
  const workerUrl = Object.assign(new URL(ownerUrl), role).href;
  const migrateAll = () => migrate({ ...urls, worker: { url: workerUrl, tasks: ["mail"] } });
  await migrateAll();
  const env = {
    DATABASE_URL: webUrl,
    WORKER_DATABASE_URL: workerUrl,
    MAIL_FROM: "Perennial <hello@perennial.example>",
    SMTP_URL: server.url,
    PUBLIC_URL: "https://perennial.example",
    CONTROLLER: "Perennial Inc., 1 Garden Way",
    CONTACT_EMAIL: "privacy@perennial.example",
  };
  const file = join(folder, "letter.txt");
  await writeFile(file, letter);
  const query = (sql: string, values?: unknown[]) => queryAs(ownerUrl, sql, values);
  const outcomes = async (name: string) => {
    const rows = await query(
      `SELECT coalesce(outcome, 'waiting') AS outcome, count(*)::int AS people FROM earlyaccess_kept.mailing_recipients
       WHERE name = $1 GROUP BY 1`,
      [name],
    );
    return Object.fromEntries(rows.map((row) => [row.outcome, row.people])) as Record<string, number>;
  };
  return {
    ...urls,
    migrate: migrateAll,
    query,
    outcomes,
    addPeople: (count: number) =>
      query(
        `SET earlyaccess.silent = 'on';
         INSERT INTO earlyaccess (id, name, email, company, created_at, confirmed_at)
         SELECT gen_random_uuid(), 'A', 'person' || i || '@example.com', 'C', now() - interval '1 day' + i * interval '1 s', now()
         FROM generate_series(1, ${count}) i`,
      ),
    mail: (...args: string[]) => runBuiltWaitlist(urls, ["mail", ...args], env),
    send: async (name: string, count: number, perHour = 3_600_000) => {
      const args = ["mail", "send", name, file, `${count}`, "--per-hour", `${perHour}`];
      return runBuiltWaitlist(urls, args, env);
    },
    startWorker: async () => {
      const worker = runWorker(env);
      workers.push(worker);
      await until("the worker started", () => /worker started|waiting for its end/.test(worker.stdout()), 50);
      return worker;
    },
    /** Starts a worker and, as Docker Compose does, another one when it ends, until the delivery is over. */
    keepWorker: () => {
      const keep = () => {
        if (delivery.isOver) return;
        const worker = runWorker(env);
        workers.push(worker);
        worker.process.once("exit", () => setTimeout(keep, 1_000));
      };
      keep();
    },
    finished: (name: string) => until("nobody waits", async () => !(await outcomes(name)).waiting, 600, 200),
  };
}

type List = Awaited<ReturnType<typeof openList>>;

const assertOnce = (accepted: string[]) =>
  assert.equal(new Set(accepted).size, accepted.length, "two mails to a person");

async function killInTheMiddle(server: MailServer, worker: Site) {
  const wanted = server.accepted.length + 10;
  await until("some mails are sent", () => server.accepted.length >= wanted, 60);
  await sleep(Math.random() * 20);
  await worker.stop("SIGKILL");
}

/** Asserts that everybody has the mailing, but for at most so many who are unknown. Returns their number. */
async function assertArrived(list: List, { server }: Delivery, name: string, mostUnknown: number): Promise<number> {
  await list.finished(name);
  const { sent = 0, unknown = 0, ...others } = await list.outcomes(name);
  assert.deepEqual([sent + unknown, others], [people, {}]);
  assert(unknown <= mostUnknown, `${unknown} unknown`);
  assertOnce(server.accepted.splice(0));
  return unknown;
}

/** Postgres ends all connections, and starts again by itself. */
async function crash({ query }: Stack) {
  const [row] = await query("SELECT pid FROM pg_stat_activity WHERE usename = 'perennial_worker' LIMIT 1");
  if (row) process.kill(row.pid as number, "SIGKILL");
}

async function sendThroughFaults(stack: Stack, path: string): Promise<string> {
  return withDelivery(async (delivery) => {
    const { server } = delivery;
    const list = await openList(stack.postgres, delivery, stack.folder);
    await list.addPeople(people);
    list.keepWorker();
    assert.equal((await list.send("faults", people, 36_000)).code, 0);
    const goesOn = async (what: string) => {
      const before = server.accepted.length;
      await until(`the mailing goes on after ${what}`, () => server.accepted.length > before + 10, 90);
    };
    for (let time = 1; time <= 3; time++) {
      await goesOn(`${time - 1} crashes`);
      await crash(stack);
    }
    await goesOn("a crash");
    const setReadOnly = async (value: string) => {
      await stack.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
      await stack.query("SELECT pg_reload_conf()");
    };
    await setReadOnly("on");
    await sleep(20_000);
    await setReadOnly("off");
    await goesOn("Postgres was read-only");
    const makeRoom = await fill(path);
    await sleep(60_000);
    await makeRoom();
    await goesOn("its disk was full");
    const unknown = await assertArrived(list, delivery, "faults", 4);
    return `${people} people, Postgres crashed three times, read-only for 20 s, its disk full for a minute: nobody twice, ${unknown} unknown`;
  });
}

/** A mailing while Postgres fails, on a disk of its own. */
export const mailThroughFaults = () =>
  withSmallDisk((path) => withStack((stack) => sendThroughFaults(stack, path), path));

export const mailings: StackScenarios = {
  "a mailing while its worker stands still (SIGSTOP) and a second one takes over": ({ postgres, folder, query }) =>
    withDelivery(async (delivery) => {
      const { server } = delivery;
      const list = await openList(postgres, delivery, folder);
      await list.addPeople(people);
      server.fail("data", "hold", /^person100@/);
      const first = await list.startWorker();
      assert.equal((await list.send("overlap", people)).code, 0);
      await until("a mail is held", () => server.mails.at(-1)?.to === "person100@example.com", 60);
      first.process.kill("SIGSTOP");
      await query("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = 4155220");
      await list.startWorker();
      const isElseSent = async () => (await list.outcomes("overlap")).sent === people - 1;
      await Promise.all([sleep(120_000), until("the second worker sends the others", isElseSent, 600, 1_000)]);
      first.process.kill("SIGCONT");
      await until("the first worker ends", () => first.process.exitCode === 1, 60);
      server.fail();
      await assertArrived(list, delivery, "overlap", 1);
      return `${people} people, the first worker stopped for two minutes: nobody twice, ${people - 1} sent meanwhile`;
    }),
  "a mailing while the worker is killed, stopped and slow": ({ postgres, folder }) =>
    withDelivery(async (delivery) => {
      const { server } = delivery;
      const list = await openList(postgres, delivery, folder);
      await list.addPeople(people);
      assert.equal((await list.send("kills", people)).code, 0);
      for (let kill = 0; kill < workerKills; kill++) await killInTheMiddle(server, await list.startWorker());
      let worker = await list.startWorker();
      const unknown = await assertArrived(list, delivery, "kills", workerKills);

      assert.equal((await list.send("two", people)).code, 0);
      for (let kill = 0; kill < workerKills; kill++) {
        const next = await list.startWorker();
        await killInTheMiddle(server, worker);
        worker = next;
      }
      await assertArrived(list, delivery, "two", workerKills);

      assert.equal((await list.send("stop", people)).code, 0);
      await until("some mails are sent", () => server.accepted.length >= 20, 60);
      const began = performance.now();
      assert.equal(await worker.stop("SIGTERM"), 0);
      const seconds = (performance.now() - began) / 1000;
      assert(seconds < 5, `the worker ended after ${seconds.toFixed(1)} s`);
      assert.equal((await list.outcomes("stop")).unknown, undefined);
      assertOnce(server.accepted.splice(0));

      await list.mail("stop", "stop");
      worker = await list.startWorker();
      assert.equal((await list.send("pace", people, 5_000)).code, 0);
      await sleep(paceSeconds * 1000);
      await worker.stop("SIGKILL");
      const mails = server.accepted.length;
      assert(mails <= (paceSeconds * 5_000) / 3_600 + 1, `${mails} mails in ${paceSeconds} s`);
      return `${people} people, ${workerKills} kills, of one worker and with a second one that waits: nobody twice, ${unknown} unknown; SIGTERM in ${seconds.toFixed(1)} s, none unknown; ${mails} mails in ${paceSeconds} s at 5,000 an hour`;
    }),
};

export const restoreMailings = () =>
  withInstalledPostgres((url, folder) =>
    withDelivery(async (delivery) => {
      const { server } = delivery;
      const file = (name: string) => join(folder, name);
      await queryAs(url("postgres"), "CREATE ROLE perennial_owner LOGIN CREATEROLE");
      const create = async (name: string) => {
        await queryAs(url("postgres"), `CREATE DATABASE ${name} OWNER perennial_owner`);
        return openList(
          { ownerUrl: url(name, "perennial_owner"), webUrl: url(name, "perennial_web") },
          delivery,
          folder,
        );
      };
      const list = await create("original");
      await list.addPeople(20);
      await runDocumented("pg_dump", "-n public", list.ownerUrl, file("before.dump"));
      const worker = await list.startWorker();
      assert.equal((await list.send("launch", 20)).code, 0);
      await list.finished("launch");
      await runDocumented("pg_dump", "-n earlyaccess_kept", list.ownerUrl, file("kept.sql"));
      await worker.stop();
      const tokens = server.mails.map(({ raw }) => /leave\?token=(\w+)\n/.exec(parseMail(raw).text)?.[1] ?? "");

      const other = await create("copied");
      await runDocumented("psql", "DELETE", other.ownerUrl, file("kept.sql"));
      for (const [i, restored] of [list, other].entries()) {
        await runDocumented("pg_restore", "--single-transaction", restored.ownerUrl, file("before.dump"));
        await restored.migrate();
        assert.match((await restored.send("launch", 1)).stderr, /^Only 0 people can get it\./);
        const left = await queryAs(restored.webUrl, "SELECT earlyaccess_leave($1) AS left", [
          hashToken(tokens[i] ?? ""),
        ]);
        assert.deepEqual(left, [{ left: true }], "a mailed link does not work");
      }

      const running = await list.startWorker();
      assert.equal((await list.send("note", 10, 1)).code, 0);
      await until("one of ten is sent", async () => (await list.outcomes("note")).sent === 1);
      await runDocumented("pg_dump", "-n earlyaccess_kept", list.ownerUrl, file("running.sql"));
      await running.stop();
      const late = await create("late");
      const bare = await create("bare");
      for (const restored of [late, bare]) {
        await runDocumented("pg_restore", "--single-transaction", restored.ownerUrl, file("before.dump"));
        await restored.migrate();
      }
      await runDocumented("psql", "DELETE", late.ownerUrl, file("running.sql"));
      const accepted = server.accepted.length;
      for (const restored of [late, bare]) {
        const resting = await restored.startWorker();
        await sleep(5_000);
        await resting.stop();
      }
      assert.equal(server.accepted.length, accepted, "a restore sent mails by itself");
      assert.match((await late.mail("list")).stdout, /9 people wait: this database was made from a copy/);
      assert.match(
        (await late.mail("stop", "note")).stdout,
        /^This database was made from a copy: 9 people who waited may have had note: unknown\./,
      );

      await runDocumented("pg_restore", "--single-transaction", list.ownerUrl, file("before.dump"));
      await list.migrate();
      await list.startWorker();
      assert.equal((await list.send("note", 0)).code, 0);
      await list.finished("note");
      assert.deepEqual(await list.outcomes("note"), { sent: 10 });
      assertOnce(server.accepted.slice(20));
      return "20 people, restored in place, also in the middle, into a new database with the copy of a running mailing and without: nobody twice, none by itself";
    }),
  );
