// UNCONFIRMED_DAYS: waitlist purge and the worker delete entries that nobody confirmed, and no others.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { migrate } from "../../server/database/migrate.ts";
import { projectRoot } from "../../server/config/project-root.ts";
import { withClient } from "../support/postgres.ts";
import { until } from "../support/run.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";
import { mailSettings, startWorker } from "../support/worker.ts";

const { database, waitlist, add, entries } = await createWaitlistFixture();

const settings = { ...mailSettings, UNCONFIRMED_DAYS: "14" };

beforeEach(async () => {
  await migrate({ ...database, worker: { url: database.workerUrl, tasks: ["mail", "purge"] } });
  await database.query("TRUNCATE earlyaccess; DELETE FROM graphile_worker._private_jobs");
});

const ago = (days: number, hours = 0) => new Date(Date.now() - (24 * days + hours) * 3_600_000).toISOString();

/** Adds an entry that signed up and got its mail 20 days ago, without a job. */
async function addMailed(name: string, columns: Record<string, unknown> = {}) {
  await add(name, `${name.replaceAll(" ", "-")}@example.com`, { created_at: ago(20), mailed_at: ago(20), ...columns });
  await database.query(
    "DELETE FROM graphile_worker._private_jobs WHERE key = (SELECT 'mail ' || id FROM earlyaccess WHERE name = $1)",
    [name],
  );
}

const names = async () => (await entries()).map(({ name }) => String(name)).toSorted();

/** Lets the worker purge once, and returns its log. */
async function purgeByWorker(env: Record<string, string> = {}): Promise<string> {
  const urls = { DATABASE_URL: database.workerUrl, SMTP_URL: "smtp://127.0.0.1:9" };
  const worker = await startWorker({ ...settings, ...urls, ...env });
  await database.query("SELECT graphile_worker.add_job('purge', '{}')");
  await until("the worker purged", () => worker.log().includes("deleted entries"));
  await worker.stop();
  return worker.log();
}

const purge = async (env: Record<string, string> = {}, ...options: string[]) => {
  const { code, stdout, stderr } = await waitlist(["purge", ...options], { ...settings, ...env });
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
};

it("without RETENTION_MONTHS, purge and the worker delete no confirmed entry of any age, but an erased one", async () => {
  for (const days of [0, 14, 15, 4_000]) {
    await addMailed(`confirmed ${days}`, { created_at: ago(days), mailed_at: ago(days), confirmed_at: ago(days) });
  }
  await purge();
  expect(await entries()).toHaveLength(4);
  await database.query("INSERT INTO earlyaccess_kept.addresses SELECT uuid_send(id), now() FROM earlyaccess LIMIT 1");
  await purgeByWorker();
  expect(await entries()).toHaveLength(3);
});

const kept: [name: string, columns: Record<string, unknown>][] = [
  ["confirmed", { confirmed_at: ago(19) }],
  ["imported", { imported: true }],
  ["invited", { status: "invited" }],
  ["joined", { status: "joined" }],
  ["left", { status: "left" }],
  ["a bot", { suspected_spam: true }],
  ["never mailed", { mailed_at: null }],
  ["mailed an hour too short ago", { mailed_at: ago(14, -1) }],
  ["mailed again", { created_at: ago(40), mailed_at: ago(13), mail_refusal: null }],
  ["refused, but not for long", { created_at: ago(14, -1), mailed_at: null, mail_refusal: "550 5.1.1" }],
  ["refused after a mail of late", { created_at: ago(40), mailed_at: ago(13), mail_refusal: "550 5.1.1" }],
];
const deleted: [name: string, columns: Record<string, unknown>][] = [
  ["mailed an hour too long ago", { mailed_at: ago(14, 1) }],
  ["refused at once", { created_at: ago(14, 1), mailed_at: null, mail_refusal: "550 5.1.1" }],
  [
    "bounced, marked before any mail was accepted",
    { created_at: ago(14, 1), mailed_at: null, mail_refusal: "bounced" },
  ],
  ["refused without a code", { created_at: ago(14, 1), mailed_at: null, mail_refusal: "550 to RCPT TO" }],
];

it("purge and the worker delete whoever never confirmed, keep everybody else and no hash, and count them apart", async () => {
  const addAll = async () => {
    for (const [name, columns] of [...kept, ...deleted]) await addMailed(name, columns);
    await database.query(`SET earlyaccess.silent = 'on'; INSERT INTO earlyaccess (id, name, email, company, mailed_at)
      SELECT gen_random_uuid(), 'one of many', i || '@example.com', 'C', now() - interval '20 days' FROM generate_series(1, 200) i`);
    for (const [name, columns] of [
      ["waits", {}],
      ["has a job that was given up", {}],
      ["never mailed and given up", { mailed_at: null }],
    ] as const) {
      await addMailed(name, columns);
      await database.query(
        `SELECT graphile_worker.add_job('mail', '{}', job_key => 'mail ' || id, run_at => now() + interval '1 day')
         FROM earlyaccess WHERE name = $1`,
        [name],
      );
    }
    await database.query(
      `UPDATE graphile_worker._private_jobs SET attempts = max_attempts
       WHERE key IN (SELECT 'mail ' || id FROM earlyaccess WHERE name LIKE '% given up')`,
    );
  };
  const left = [...kept.map(([name]) => name), "never mailed and given up", "waits"].toSorted();
  await addAll();
  expect(await purge({}, "--dry-run")).toMatch(/^Would remove 205 entries that nobody confirmed within 14 days\.$/m);
  expect(await entries()).toHaveLength(left.length + 205);
  expect(await purge()).toMatch(/^Removed 205 entries that nobody confirmed within 14 days\.$/m);
  expect(await names()).toEqual(left);
  await database.query("TRUNCATE earlyaccess; DELETE FROM graphile_worker._private_jobs");
  await addAll();
  expect(await purgeByWorker({ RETENTION_MONTHS: "24" })).toContain("never confirmed: 205");
  expect(await names()).toEqual(left);
  expect(await database.query("SELECT FROM earlyaccess_kept.addresses WHERE length(hash) > 16")).toHaveLength(0); // That of the key.
});

it("purge deletes nobody who never confirmed without the setting", async () => {
  await addMailed("mailed");
  expect(await purge({ UNCONFIRMED_DAYS: "0" })).not.toContain("confirmed");
  expect(await names()).toEqual(["mailed"]);
});

it("purge keeps somebody whose confirmation is being stored while it begins", async () => {
  await addMailed("ada");
  await addMailed("eve");
  await withClient(database.ownerUrl, async (person) => {
    await person.query("BEGIN; UPDATE earlyaccess SET confirmed_at = now() WHERE name = 'ada'");
    const purging = purge();
    const blocked = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    await until("purge waits", async () => (await database.query(blocked)).length === 1);
    await person.query("COMMIT");
    expect(await purging).toMatch(/^Removed 1 entry that nobody confirmed within 14 days\.$/m);
  });
  expect(await names()).toEqual(["ada"]);
});

it("after a restore, which forgets confirmations, purge as docs/backup.md says keeps who confirmed", async () => {
  await addMailed("ada");
  await database.query("CREATE TABLE backup AS SELECT * FROM earlyaccess");
  await database.query("UPDATE earlyaccess SET confirmed_at = now()");
  await database.query("TRUNCATE earlyaccess; INSERT INTO earlyaccess SELECT * FROM backup; DROP TABLE backup");
  const document = readFileSync(join(projectRoot, "docs/backup.md"), "utf8");
  const [, days = "14"] = /^docker compose run --rm -e UNCONFIRMED_DAYS=(\d+) waitlist purge /m.exec(document) ?? [];
  await purge({ UNCONFIRMED_DAYS: days });
  expect(await names()).toEqual(["ada"]);
});
