// The rehearsal of a backup: made, restored elsewhere, and compared row by row.
import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import type { Cluster } from "../../server/database/cluster.ts";
import { migrate, type DatabaseUrls } from "../../server/database/migrate.ts";
import { waitlist } from "./commands.ts";
import { withInstalledPostgres } from "./installed-postgres.ts";
import type { Step } from "../support/steps.ts";

export const backupSteps: Step[] = [
  { name: "back up 10,000 entries, restore them into an empty database, compare all rows", run: rehearse },
];

function rehearse(): Promise<string> {
  return withInstalledPostgres(({ holder, cluster, folder }) =>
    backUpAndRestore(holder.client, cluster.passwords, holder.port, join(folder, "list.dump")),
  );
}

async function backUpAndRestore(
  admin: pg.Client,
  passwords: Cluster["passwords"],
  port: number,
  file: string,
): Promise<string> {
  const create = async (name: string): Promise<DatabaseUrls> => {
    await admin.query(`CREATE DATABASE ${name} OWNER perennial_owner`);
    const url = (user: string, password: string) => `postgresql://${user}:${password}@127.0.0.1:${port}/${name}`;
    return { ownerUrl: url("perennial_owner", passwords.owner), webUrl: url("perennial_web", passwords.web) };
  };
  const original = await create("original");
  const copy = await create("copy");
  await migrate(original);
  await query(original.ownerUrl, fill);
  const backup = await waitlist(original, ["backup", file]);
  assert.deepEqual([backup.code, backup.stderr], [0, ""]);
  assert.equal((await stat(file)).mode & 0o777, 0o600);

  await restoreSuccessfully(copy, file);
  await assertSame(original, copy);
  await query(copy.webUrl, insertOne);
  const refused = await waitlist(copy, ["restore", file]);
  assert.equal(refused.code, 1, "restored over entries without --replace");
  assert.match(refused.stderr, /^The database holds 10,001 entries\. With --replace/);
  // The entry that the backup has not goes.
  await restoreSuccessfully(copy, file, "--replace");
  const rows = await assertSame(original, copy);

  const diagnosis = await waitlist(copy, ["doctor"]);
  assert.equal(diagnosis.code, 0, diagnosis.stdout);
  assert.match(diagnosis.stdout, /^ok +Objects: /m);
  const [server] = await query(copy.ownerUrl, "SHOW server_version");
  return `${rows} rows of 3 tables are the same, also with --replace; Postgres ${String(server?.server_version)}`;
}

async function restoreSuccessfully(database: DatabaseUrls, file: string, ...options: string[]): Promise<void> {
  const { code, stdout, stderr } = await waitlist(database, ["restore", file, ...options]);
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

async function assertSame(one: DatabaseUrls, other: DatabaseUrls): Promise<number> {
  let rows = 0;
  for (const table of ["earlyaccess", "earlyaccess_status_changes", "_prisma_migrations"]) {
    const read = (database: DatabaseUrls) =>
      query(database.ownerUrl, `SELECT t::text AS row FROM ${table} t ORDER BY t.id`);
    const expected = await read(one);
    assert.deepEqual(await read(other), expected);
    assert(expected.length > 0);
    rows += expected.length;
  }
  return rows;
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
