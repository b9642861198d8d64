// waitlist purge
import { beforeEach, describe, expect, it } from "vitest";
import { hashAddress } from "../../server/database/erasure-key.ts";
import { migrate } from "../../server/database/migrate.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";

const { database, waitlist, entries, add } = createWaitlistFixture();

const key = "erasure-key-of-the-tests".padEnd(40, ".");
const year = { RETENTION_MONTHS: "12" };

beforeEach(() => database.query("DROP SCHEMA IF EXISTS earlyaccess_erasures CASCADE; TRUNCATE earlyaccess"));

/** Adds an entry that is as old as the interval. */
const addAged = (name: string, interval: string) =>
  database.query(
    `INSERT INTO earlyaccess (id, name, email, company, created_at)
     VALUES (gen_random_uuid(), $1, $2, 'E', now() - $3::interval)`,
    [name, `${name.toLowerCase()}@example.com`, interval],
  );

const names = async () => (await entries()).map(({ name }) => name);

it("removes the entries that are older than the retention period, and no other", async () => {
  await addAged("Older", "12 months 1 second");
  await addAged("Younger", "12 months -20 seconds");
  await addAged("New", "0");
  const dryRun = await waitlist(["purge", "--dry-run"], year);
  expect(dryRun).toEqual({ code: 0, stdout: "Would remove 1 entry older than 12 months.\n", stderr: "" });
  expect(await names()).toEqual(["New", "Older", "Younger"]);
  const stdout = "Removed 1 entry older than 12 months.\n";
  expect(await waitlist(["purge"], year)).toEqual({ code: 0, stdout, stderr: "" });
  expect(await names()).toEqual(["New", "Younger"]);
  expect((await waitlist(["purge"], year)).stdout).toBe("Removed 0 entries older than 12 months.\n");
});

it("removes nothing without RETENTION_MONTHS, and names the setting", async () => {
  await addAged("Older", "100 years");
  const { code, stdout } = await waitlist(["purge"]);
  expect([code, stdout]).toEqual([
    0,
    "RETENTION_MONTHS is 0 or not set, so no entry is too old. Set it, for example RETENTION_MONTHS=24.\n",
  ]);
  expect(await names()).toEqual(["Older"]);
});

it("removes 5,000 entries, and leaves personal data neither in its output nor in another table", async () => {
  await migrate({
    ...database,
    worker: { url: database.workerUrl, tasks: ["webhook", "mail", "purge"] },
    erasureKey: key,
  });
  const fill = (first: number, last: number) =>
    `INSERT INTO earlyaccess (id, name, email, company, job_title, created_at)
     SELECT gen_random_uuid(), 'Secret ' || i, 'secret' || i || '@example.com', 'Secret', 'Secret', now() - interval '2 years'
     FROM generate_series(${first}, ${last}) i`;
  await database.query(fill(1, 100));
  await database.query(`SET earlyaccess.silent = 'on'; ${fill(101, 5000)}`); // A job for each would take long.
  await database.query("UPDATE earlyaccess SET status = 'invited' WHERE email < 'secret2'");
  const result = await waitlist(["purge"], { ...year, ERASURE_KEY: key });
  expect(result).toEqual({ code: 0, stdout: "Removed 5,000 entries older than 12 months.\n", stderr: "" });
  expect(await entries()).toEqual([]);
  expect(await database.query("SELECT FROM earlyaccess_erasures.addresses")).toHaveLength(5_001);
  const tables = (await database.query(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname IN ('public', 'graphile_worker', 'earlyaccess_erasures')`,
  )) as { name: string }[];
  expect(tables.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["public.earlyaccess_status_changes", "graphile_worker._private_jobs"]),
  );
  for (const { name } of tables) {
    expect(await database.query(`SELECT FROM ${name} AS kept WHERE kept::text ILIKE '%secret%'`), name).toEqual([]);
  }
  const jobs = await database.query("SELECT FROM graphile_worker._private_jobs");
  const changes = await database.query("SELECT FROM earlyaccess_status_changes");
  expect([jobs.length, changes.length].every((length) => length > 0)).toBe(true);
});

describe("with ERASURE_KEY", () => {
  beforeEach(() => migrate({ ...database, erasureKey: key }));

  /** As after a restore: an entry whose address was erased since. */
  const erase = (address: string, moment: string) =>
    database.query("INSERT INTO earlyaccess_erasures.addresses VALUES ($1, $2)", [hashAddress(address, key), moment]);

  it("first removes entries that were erased after their sign-up, also without RETENTION_MONTHS", async () => {
    await add("Back", "back@example.com", { created_at: "2026-01-02T03:04:05Z" });
    await add("Again", "again@example.com", { created_at: "2026-01-02T03:04:05Z" });
    await add("Never", "never@example.com", { created_at: "2026-01-02T03:04:05Z" });
    await erase("back@example.com", "2026-01-02T03:04:05Z");
    await erase("again@example.com", "2026-01-02T03:04:04Z");
    const dryRun = await waitlist(["purge", "--dry-run"], { ERASURE_KEY: key });
    expect(dryRun.stdout).toMatch(
      /^Would remove 1 entry whose address was erased earlier\.\nRETENTION_MONTHS is 0 or not /,
    );
    expect(await names()).toHaveLength(3);
    const { code, stdout } = await waitlist(["purge"], { ERASURE_KEY: key });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Removed 1 entry whose address was erased earlier\.\nRETENTION_MONTHS is 0 or not /);
    expect(await names()).toEqual(["Again", "Never"]);
  });

  it("removes a purged entry again that a restore brings back", async () => {
    await addAged("Older", "2 years");
    await waitlist(["purge"], { ...year, ERASURE_KEY: key });
    await addAged("Older", "2 years");
    const { stdout } = await waitlist(["purge"], { ...year, ERASURE_KEY: key });
    expect(stdout).toBe("Removed 1 entry whose address was erased earlier.\nRemoved 0 entries older than 12 months.\n");
    expect(await names()).toEqual([]);
  });

  it("removes an undone entry that a restore brings back, and not another one with its address", async () => {
    await add("Undone", "ada@example.com", { token_hash: "\\x01" });
    const [backup] = await entries();
    await database.query("SELECT earlyaccess_leave('\\x01')");
    expect(await names()).toEqual([]);
    await add("Ada", "ada@example.com", { created_at: backup?.created_at });
    expect((await waitlist(["purge"], { ERASURE_KEY: key })).stdout).toMatch(/^RETENTION_MONTHS is 0/);
    await database.query("UPDATE earlyaccess SET id = $1", [backup?.id]);
    expect((await waitlist(["purge"], { ERASURE_KEY: key })).stdout).toMatch(/^Removed 1 entry whose/);
    expect(await names()).toEqual([]);
  });

  it.each([
    ["without the key", undefined, /^ERASURE_KEY is not set, but this database /],
    ["with another key", "another-key".repeat(3), /^ERASURE_KEY is not the key /],
  ])("changes nothing %s", async (_, other, message) => {
    await addAged("Older", "2 years");
    const result = await waitlist(["purge"], { ...year, ...(other && { ERASURE_KEY: other }) });
    expect(result).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(message) });
    expect(await names()).toEqual(["Older"]);
    expect(await database.query("SELECT FROM earlyaccess_erasures.addresses")).toHaveLength(1);
  });
});
