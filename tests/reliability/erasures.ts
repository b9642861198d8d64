// Erased entries after the restore of an older backup, the import of an old CSV file, and the loss of the database.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { hashAddress } from "../../server/database/erasure-key.ts";
import { eraseEntries } from "../../server/models/erasures.ts";
import { migrate } from "../../server/database/migrate.ts";
import { queryAs, withClient } from "../support/query.ts";
import { runWaitlist } from "../support/waitlist.ts";
import { findBackup, restoreAsDocumented, runBackupScript, runDocumented } from "./backup.ts";
import { withInstalledPostgres } from "./installed-postgres.ts";

const execute = promisify(execFile);
const key = randomBytes(32).toString("hex");
const erased = Array.from({ length: 1_000 }, (_, i) => `person${i}@example.com`);

export const keepErased = () =>
  withInstalledPostgres(async (url, folder) => {
    await queryAs(url("postgres"), "CREATE ROLE perennial_owner LOGIN CREATEROLE");
    const create = async (name: string) => {
      await queryAs(url("postgres"), `CREATE DATABASE ${name} OWNER perennial_owner`);
      return { ownerUrl: url(name, "perennial_owner"), webUrl: url(name, "perennial_web"), erasureKey: key };
    };
    const database = await create("original");
    const { ownerUrl } = database;
    const waitlist = async (args: string[], target = database) => {
      const { code, stdout, stderr } = await runWaitlist(target, args, { ERASURE_KEY: key });
      assert.deepEqual([code, stderr], [0, ""], args.join(" "));
      return stdout;
    };
    const file = (name: string) => join(folder, name);
    await migrate(database);
    await queryAs(ownerUrl, fill);
    const backups = file("backups");
    await runBackupScript(ownerUrl, backups);
    const scripted = await findBackup(backups);
    await waitlist(["export", file("list.csv")]);
    // By hand, and one of everything.
    await runDocumented("pg_dump", "graphile_worker", ownerUrl, file("manual.dump"));
    await execute("pg_dump", ["-Fc", `--file=${file("whole.dump")}`, `--dbname=${ownerUrl}`]);
    await eraseAll(ownerUrl);
    await runDocumented("pg_dump", "-n earlyaccess_erasures", ownerUrl, file("erasures.dump"));

    for (const backup of [scripted, file("manual.dump"), file("whole.dump")]) {
      await restoreAsDocumented(database, backup);
      assert.match(await waitlist(["purge"]), removed);
      await assertNoneReturned(ownerUrl);
    }
    await importOldFiles(file("list.csv"), waitlist);
    await assertNoneReturned(ownerUrl);

    // The whole database is lost, and with it the list of erased addresses, of which there is a copy.
    const other = await create("other");
    await runDocumented("pg_restore", "perennial --no-privileges", other.ownerUrl, file("erasures.dump"));
    await restoreAsDocumented(other, scripted);
    assert.match(await waitlist(["purge"], other), removed);
    await assertNoneReturned(other.ownerUrl);
    await queryAs(other.webUrl, signUp);
    assert.doesNotMatch(await waitlist(["purge"], other), /Removed/, "purge removed who signed up again");
    await assertUnreadable(ownerUrl, file("erasures.dump"));
    return "1,000 of 10,000 entries erased; none returned after 4 restores, 2 imports and the loss of the database";
  });

const removed = /^Removed 1,000 entries whose address was erased earlier\.\n/;

const fill = `
  INSERT INTO earlyaccess (id, name, email, company, created_at)
  SELECT gen_random_uuid(), 'Zoë', 'person' || i || '@example.com', 'E', now() - i * interval '1 minute' FROM generate_series(0, 9999) i`;
const signUp =
  "INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'Again', 'person1@example.com', 'E')";

/** As waitlist erase does for one address. */
const eraseAll = (ownerUrl: string) =>
  withClient(ownerUrl, async (client) => {
    const { rows } = await client.query("SELECT id, email FROM earlyaccess WHERE email = ANY ($1)", [erased]);
    assert.equal(rows.length, erased.length);
    await eraseEntries(client, rows, key);
  });

async function assertNoneReturned(ownerUrl: string): Promise<void> {
  const sql = "SELECT count(*)::int AS all, (count(*) FILTER (WHERE email = ANY ($1)))::int AS erased FROM earlyaccess";
  assert.deepEqual(await queryAs(ownerUrl, sql, [erased]), [{ all: 9_000, erased: 0 }]);
}

/** Imports the export, and the same without the times of the sign-ups. */
async function importOldFiles(path: string, waitlist: (args: string[]) => Promise<string>): Promise<void> {
  const counts = "10,000 lines, 9,000 already on the list, 0 twice in the file, 1,000 erased, 0 wrong.\n";
  assert((await waitlist(["import", path])).startsWith(counts));
  const undated = (await readFile(path, "utf8")).replace(",created_at,", ",another,");
  await writeFile(path, undated);
  assert((await waitlist(["import", path])).startsWith(counts));
}

/** The hashes of the same addresses with another key are others, so that nobody can try addresses without the key. */
async function assertUnreadable(ownerUrl: string, file: string): Promise<void> {
  const find = (tried: string) =>
    queryAs(ownerUrl, "SELECT FROM earlyaccess_erasures.addresses WHERE hash = ANY ($1)", [
      erased.map((address) => hashAddress(address, tried)),
    ]);
  assert.equal((await find(key)).length, erased.length);
  for (const tried of ["", randomBytes(32).toString("hex")]) assert.deepEqual(await find(tried), []);
  const { stdout } = await execute("pg_restore", ["--file=-", file], { maxBuffer: 10_000_000 });
  assert.match(stdout, /\\\\x[\da-f]{64}/);
  assert.doesNotMatch(stdout, /@|person|example/);
}
