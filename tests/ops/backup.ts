// A backup that is restored elsewhere, and compared row by row.
import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { migrate } from "../../server/database/migrate.ts";
import type { DatabaseUrls } from "../../server/database/roles.ts";
import { queryAs } from "../support/query.ts";
import { runWaitlist } from "../support/waitlist.ts";
import { withInstalledPostgres } from "./installed-postgres.ts";

export const backUpAndRestore = () =>
  withInstalledPostgres(async (url, folder) => {
    const file = join(folder, "list.dump");
    await queryAs(url("postgres"), "CREATE ROLE perennial_owner LOGIN CREATEROLE");
    const [original, copy] = ["original", "copy"].map((name) => ({
      ownerUrl: url(name, "perennial_owner"),
      webUrl: url(name, "perennial_web"),
    })) as [DatabaseUrls, DatabaseUrls];
    for (const name of ["original", "copy"])
      await queryAs(url("postgres"), `CREATE DATABASE ${name} OWNER perennial_owner`);
    await migrate(original);
    await queryAs(original.ownerUrl, fill);
    const backup = await runWaitlist(original, ["backup", file]);
    assert.deepEqual([backup.code, backup.stderr], [0, ""]);
    assert.equal((await stat(file)).mode & 0o777, 0o600);

    await restore(copy, file);
    await assertSame(original, copy);
    await queryAs(copy.webUrl, insertOne);
    const refused = await runWaitlist(copy, ["restore", file]);
    assert.equal(refused.code, 1, "restore without --replace deleted entries");
    assert.match(refused.stderr, /^The database holds 10,001 entries\. With --replace/);
    await restore(copy, file, "--replace");
    const rows = await assertSame(original, copy);

    const diagnosis = await runWaitlist(copy, ["doctor"]);
    assert.equal(diagnosis.code, 0, diagnosis.stdout);
    assert.match(diagnosis.stdout, /^ok +Migrations: /m);
    const [server] = await queryAs(copy.ownerUrl, "SHOW server_version");
    return `${rows} rows of 3 tables are equal, also after --replace; Postgres ${String(server?.server_version)}`;
  });

async function restore(database: DatabaseUrls, file: string, ...options: string[]): Promise<void> {
  const { code, stdout, stderr } = await runWaitlist(database, ["restore", file, ...options]);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, /Restored 10,000 entries\.\n$/);
}

const fill = `
  INSERT INTO earlyaccess (id, name, email, company, job_title, utm_source, suspected_spam, created_at)
  SELECT gen_random_uuid(), E'Zoë "O''Brien" \\\\ ' || i, 'person' || i || '@example.com', E'=A;B,C\\tD', NULL, 'news',
         i % 7 = 0, now() - i * interval '1 minute' FROM generate_series(1, 10000) i;
  UPDATE earlyaccess SET status = 'invited' WHERE suspected_spam`;
const insertOne =
  "INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'New', 'new@example.com', 'New')";

/** Returns how many rows there are. */
async function assertSame(one: DatabaseUrls, other: DatabaseUrls): Promise<number> {
  let count = 0;
  for (const table of ["earlyaccess", "earlyaccess_status_changes", "_prisma_migrations"]) {
    const read = `SELECT t::text AS row FROM ${table} t ORDER BY t.id`;
    const rows = await queryAs(one.ownerUrl, read);
    assert.deepEqual(await queryAs(other.ownerUrl, read), rows);
    assert(rows.length > 0);
    count += rows.length;
  }
  return count;
}
