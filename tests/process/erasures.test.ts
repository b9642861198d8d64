// Erased addresses: waitlist erase, purge, and import of a file that still holds them.
import { writeFile } from "node:fs/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { migrate } from "../../server/database/migrate.ts";
import { until } from "../support/run.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";
import { startWorker } from "../support/worker.ts";

const { database, file, waitlist, entries, add } = await createWaitlistFixture();

const year = { RETENTION_MONTHS: "12" };

const migrateWorker = () =>
  migrate({ ...database, worker: { url: database.workerUrl, tasks: ["webhook", "mail", "purge"] } });

beforeEach(() => database.query("TRUNCATE earlyaccess, earlyaccess_kept.addresses"));

/** Adds an entry that is as old as the interval. */
const addAged = (name: string, interval: string) =>
  database.query(
    `INSERT INTO earlyaccess (id, name, email, company, created_at)
     VALUES (gen_random_uuid(), $1, $2, 'E', now() - $3::interval)`,
    [name, `${name.toLowerCase()}@example.com`, interval],
  );

const keep = (email: string, moment: string) =>
  database.query("INSERT INTO earlyaccess_kept.addresses VALUES (earlyaccess_kept.hash_email($1), $2)", [
    email,
    moment,
  ]);
const hashes = async () =>
  (await database.query("SELECT hash FROM earlyaccess_kept.addresses")).map((row) => String(row.hash)).toSorted();

const names = async () => (await entries()).map(({ name }) => name);

it("erase removes the address in any spelling, keeps the status history and a keyed hash, and can be repeated", async () => {
  await add("Zoë", "zoe@xn--mnchen-3ya.de", { created_at: "2026-01-02T03:04:05Z" });
  await add("Ada", "ada@example.com");
  await database.query("UPDATE earlyaccess SET status = 'invited' WHERE name = 'Zoë'");
  const [{ id } = {}] = await database.query("SELECT id FROM earlyaccess WHERE name = 'Zoë'");
  expect((await waitlist(["show", "zoe@münchen.de"])).stdout).toMatch(/^email +zoe@xn--mnchen-3ya\.de$/m);
  const stdout = "Removed 1 entry. Not on the list: 0.\n";
  expect(await waitlist(["erase", " ZOE@Mu\u0308nchen.de"])).toEqual({ code: 0, stdout, stderr: "" });
  expect(await names()).toEqual(["Ada"]);
  const [change = {}] = await database.query("SELECT * FROM earlyaccess_status_changes WHERE entry_id = $1", [id]);
  const kept = ["changed_at", "changed_by", "entry_id", "id", "new_status", "old_status"];
  expect(Object.keys(change).toSorted()).toEqual(kept);
  const none = "Removed 0 entries. Not on the list: 2 (zoe@xn--mnchen-3ya.de, nobody@example.com).\n";
  const again = await waitlist(["erase", "zoe@münchen.de", "nobody@example.com"]);
  expect(again).toEqual({ code: 1, stdout: none, stderr: "None of these addresses is on the list.\n" });
  const expected = await database.query(
    "SELECT sha256(key || convert_to(email, 'UTF8')) AS hash FROM earlyaccess_kept.keys, unnest($1::text[]) AS email",
    [["zoe@xn--mnchen-3ya.de", "nobody@example.com"]],
  );
  expect(await hashes()).toEqual(expected.map(({ hash }) => String(hash)).toSorted());
});

it("erase --file removes the addresses of the lines, counts those that are not on the list, or names a line that is no address", async () => {
  await add("Ada", "ada@example.com");
  await add("Eve", "eve@example.com");
  const eraseFile = async (text: string | Buffer, ...others: string[]) => {
    await writeFile(file("unsubscribed.txt"), text);
    return waitlist(["erase", "--file", file("unsubscribed.txt"), ...others]);
  };
  const refused = await eraseFile("ada@example.com\nemail\n");
  expect(refused).toEqual({ code: 1, stdout: "", stderr: '"email" is not an email address. Nothing was changed.\n' });
  expect((await eraseFile(Buffer.from("\nEve@example.com", "utf16le"))).stderr).toMatch(
    /\.txt is not CSV\. Save it as 'CSV UTF-8'\./,
  );
  expect(await names()).toEqual(["Ada", "Eve"]);
  const stdout = "Removed 2 entries. Not on the list: 2 (nobody@example.com, none@example.com).\n";
  const lines = "\uFEFFADA@example.com\r\nada@example.com\r\n\r\nnobody@example.com\nnone@example.com";
  const erased = await eraseFile(Buffer.from(lines, "utf16le"), "eve@example.com");
  expect(erased).toEqual({ code: 0, stdout, stderr: "" });
  expect(await names()).toEqual([]);
  expect(await waitlist(["erase", "--file", file("none")])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /none cannot be read: ENOENT\. To read a file in a container, .* < FILE\n$/,
    ) as string,
  });
  expect(await waitlist(["erase"])).toMatchObject({ code: 2 });
});

it("purge removes the entries that are older than RETENTION_MONTHS, and none without the setting", async () => {
  await addAged("Older", "12 months 1 second");
  await addAged("Younger", "12 months -20 seconds");
  expect((await waitlist(["purge"])).stdout).toMatch(/\nRETENTION_MONTHS is 0 or not set, so no entry is too old\. /);
  const dryRun = await waitlist(["purge", "--dry-run"], year);
  expect(dryRun.stdout).toMatch(/\nWould remove 1 entry older than 12 months\.\n$/);
  expect(await names()).toEqual(["Older", "Younger"]);
  const { stdout } = await waitlist(["purge"], year);
  expect(stdout).toMatch(/\nRemoved 1 entry older than 12 months\.\n$/);
  expect(await names()).toEqual(["Younger"]);
});

it("purge leaves personal data neither in its output nor in another table", async () => {
  await migrateWorker();
  await database.query(
    `INSERT INTO earlyaccess (id, name, email, company, job_title, created_at)
     SELECT format('00000000-0000-4000-8000-00000000%s', 9999 - i)::uuid, 'Secret ' || i, 'secret' || i || '@example.com',
       'Secret', 'Secret', now() - interval '2 years' + i * interval '1 s' -- The older, the later by id, as after an import.
     FROM generate_series(1, 2101) i;
     UPDATE earlyaccess SET status = 'invited' WHERE email < 'secret2';
     INSERT INTO earlyaccess_kept.addresses SELECT uuid_send(id), now() FROM earlyaccess
     WHERE email IN ('secret1@example.com', 'secret2101@example.com')`,
  );
  const result = await waitlist(["purge"], year);
  const stdout =
    "Removed 2 entries of erased people that a restore or an import brought back.\nRemoved 2,099 entries older than 12 months.\n";
  expect(result).toEqual({ code: 0, stdout, stderr: "" });
  const tables = await database.query(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname IN ('public', 'graphile_worker', 'earlyaccess_kept')`,
  );
  const isSecret: Record<string, unknown> = {};
  for (const { name } of tables as { name: string }[]) {
    // The text of bytea is hexadecimal. An empty table has null.
    const sql = `SELECT bool_or(kept::text ~* 'secret|736563726574') AS found FROM ${name} kept`;
    isSecret[name] = (await database.query(sql))[0]?.found;
  }
  expect(Object.values(isSecret)).not.toContain(true);
  expect([isSecret["public.earlyaccess_status_changes"], isSecret["graphile_worker._private_jobs"]]).toEqual([
    false,
    false,
  ]);
});

it("erase, purge and the daily deletion tell nobody: they queue no webhook", async () => {
  await migrateWorker();
  await addAged("Typed", "1 day");
  await addAged("Purged", "13 months");
  await database.query("DELETE FROM graphile_worker._private_jobs");
  const jobs = () => database.query("SELECT task_identifier FROM graphile_worker.jobs");
  const remedy = "CONTRIBUTING.md, Tell another system about something";
  await waitlist(["erase", "typed@example.com"]);
  expect(await jobs(), remedy).toEqual([]);
  expect((await waitlist(["purge"], year)).stdout).toMatch(/\nRemoved 1 entry older than 12 months\.\n$/);
  expect(await jobs(), remedy).toEqual([]);
  await addAged("Daily", "13 months");
  await database.query("DELETE FROM graphile_worker._private_jobs; SELECT graphile_worker.add_job('purge', '{}')");
  const worker = await startWorker({ DATABASE_URL: database.workerUrl, ...year }); // Its only task, so that a webhook waits.
  await until("the worker deleted", () => worker.log().includes("older than 12 months: 1,"));
  await worker.stop();
  expect(await jobs(), remedy).toEqual([]);
});

describe("an erased address", () => {
  it("that a restore brings back is purged, also without RETENTION_MONTHS", async () => {
    for (const name of ["Back", "Again", "Never"]) {
      await add(name, `${name.toLowerCase()}@example.com`, { created_at: "2026-01-02T03:04:05Z" });
    }
    await keep("back@example.com", "2026-01-02T03:04:05Z");
    await keep("again@example.com", "2026-01-02T03:04:04Z"); // Before the sign-up.
    const dryRun = await waitlist(["purge", "--dry-run"]);
    expect(dryRun.stdout).toMatch(/^Would remove 1 entry of erased people .*\.\nRETENTION_MONTHS is 0 /);
    expect(await names()).toHaveLength(3);
    const { code, stdout } = await waitlist(["purge"]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Removed 1 entry of erased people /)]);
    expect(await names()).toEqual(["Again", "Never"]);
    const restored = await entries();
    await waitlist(["erase", "again@example.com"]); // A second time, after the sign-up.
    await add("Again", "again@example.com", { created_at: restored[0]?.created_at });
    await waitlist(["purge"]);
    expect(await names()).toEqual(["Never"]);
  });

  it("is skipped and counted by import, unless the line is later than the erasure", async () => {
    for (const name of ["undated", "older", "later"]) {
      await keep(`${name}@xn--mnchen-3ya.de`, "2026-01-02T03:04:05Z");
    }
    const text = [
      "name,email,company,created_at",
      "A,UNDATED@München.de,E,",
      "B,older@münchen.de,E,2026-01-02T03:04:04Z",
      "C,later@münchen.de,E,2026-01-02T03:04:06Z",
      "D,never@münchen.de,E,2026-01-01\n",
    ].join("\n");
    await writeFile(file("import.csv"), text);
    const report = "4 lines, 0 already on the list, 0 twice in the file, 2 erased, 0 wrong.\n";
    const dryRun = await waitlist(["import", "--dry-run", file("import.csv")]);
    expect(dryRun).toEqual({ code: 0, stdout: `${report}Would import 2; nothing was changed.\n`, stderr: "" });
    expect(await names()).toEqual([]);
    const result = await waitlist(["import", file("import.csv")]);
    expect(result).toEqual({ code: 0, stdout: `${report}Imported 2.\n`, stderr: "" });
    expect(await names()).toEqual(["C", "D"]);
  });

  it("is skipped by an import that began before the erasure", async () => {
    // The first of a thousand lines is inserted before the last one, which is in the next batch.
    await database.query(`CREATE FUNCTION erase_last() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO earlyaccess_kept.addresses (hash) VALUES (earlyaccess_kept.hash_email('1000@example.com')); RETURN NEW;
      END $$;
      CREATE TRIGGER erase_last BEFORE INSERT ON earlyaccess
      FOR EACH ROW WHEN (NEW.email = '0@example.com') EXECUTE FUNCTION erase_last()`);
    const lines = Array.from({ length: 1_001 }, (_, i) => `Ada,${i}@example.com,E\n`);
    await writeFile(file("import.csv"), `name,email,company\n${lines.join("")}`);
    const { stdout } = await waitlist(["import", file("import.csv")]);
    await database.query("DROP FUNCTION erase_last CASCADE");
    expect(stdout).toMatch(/, 0 erased, .*\nImported 1,000\.\n$/);
  });
});

it("an undone sign-up leaves no hash of the address: whoever typed the address of somebody else keeps that person from nothing", async () => {
  await add("A stranger's", "ada@example.com", { token_hash: `\\x${"01".repeat(32)}`, mail_refusal: "450 4.7.1" });
  await database.query("SELECT earlyaccess_leave(token_hash) FROM earlyaccess");
  expect(await database.query("SELECT octet_length(hash) AS bytes FROM earlyaccess_kept.addresses")).toEqual([
    { bytes: 16 },
  ]);
  await writeFile(file("import.csv"), "name,email,company\nAda,ada@example.com,E\n");
  expect((await waitlist(["import", file("import.csv")])).stdout).toMatch(/ 0 erased, .*\nImported 1\.\n$/);
  expect(await database.query("SELECT * FROM earlyaccess_kept.erasure_of('ada@example.com')")).toEqual([
    { erased_at: null, left_at: null },
  ]);
});

it("purge removes an undone entry that a restore brings back, and not another one with its address", async () => {
  await add("Undone", "ada@example.com", { token_hash: `\\x${"01".repeat(32)}` });
  const [backup] = await entries();
  await database.query("SELECT earlyaccess_leave(token_hash) FROM earlyaccess");
  expect(await names()).toEqual([]);
  await add("Ada", "ada@example.com", { created_at: backup?.created_at });
  expect((await waitlist(["purge"])).stdout).toMatch(/^Removed 0 entries of erased people/);
  await database.query("UPDATE earlyaccess SET id = $1", [backup?.id]);
  expect((await waitlist(["purge"])).stdout).toMatch(/^Removed 1 entry of erased people/);
  expect(await names()).toEqual([]);
});
