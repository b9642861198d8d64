// Migrating a real Postgres: the runner of migrations, and the schema that they make.
import { createHash, randomUUID } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { createEmptyDatabase, insertEntry, type TestDatabase } from "../../tests/support/database.ts";
import { queryAs, withClient } from "../../tests/support/postgres.ts";
import { projectRoot } from "../project-root.ts";
import { begin, withConnection } from "./connect.ts";
import { applyMigrations, migrate } from "./migrate.ts";

const initial = "20261122230000_initial";
const migrations = await readdir(join(projectRoot, "prisma/migrations"));

let database: TestDatabase;

beforeEach(async () => {
  database = await createEmptyDatabase();
});

/** Postgres' names of Prisma's types. */
const types: Record<string, string> = {
  BigInt: "bigint",
  Boolean: "boolean",
  Bytes: "bytea",
  Int: "integer",
  String: "text",
  WaitlistStatus: "earlyaccess_status",
  Char: "character",
  Date: "date",
  Timestamptz: "timestamp with time zone",
  Uuid: "uuid",
  VarChar: "character varying",
};

/** Returns the columns that prisma/schema.prisma describes, as Postgres names their types; a list is never null. */
async function readSchema(): Promise<string[]> {
  const schema = await readFile(join(projectRoot, "prisma/schema.prisma"), "utf8");
  const column = /^ {2}(\w+) +(\w+)(\[\]|\?)?(?:.* @db\.(\w+)(\(\d+\))?)?/gm;
  return [...schema.matchAll(/^model \w+ \{\n([^}]*)@@map\("(\w+)"\)/gm)].flatMap(([, body = "", table]) =>
    [...body.matchAll(column)].map(([, name, base = "", mark, stored = base, length = ""]) => {
      const type = (types[stored] ?? stored).replace(/^\w+( varying)?/, `$&${length}`);
      return `${table} ${name} ${type}${mark === "[]" ? "[]" : ""} ${mark ? "NULL" : "NOT NULL"}`;
    }),
  );
}

it("migrating makes the columns of schema.prisma with their types and lengths, and requires the same ones", async () => {
  await migrate(database);
  const columns = await database.query(
    `SELECT concat_ws(' ', relname, attname, format_type(atttypid, atttypmod), CASE WHEN attnotnull THEN 'NOT NULL' ELSE 'NULL' END) AS line
     FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
     WHERE relnamespace = 'public'::regnamespace AND relname LIKE 'earlyaccess%' AND relkind = 'r' AND attnum > 0 AND NOT attisdropped`,
  );
  expect(columns.map(({ line }) => line as string).toSorted()).toEqual((await readSchema()).toSorted());
});

it("the initial migration is frozen: an older site uses its database, and each change is a migration of its own", async () => {
  const text = await readFile(join(projectRoot, `prisma/migrations/${initial}/migration.sql`));
  const frozen = "609d9df459086c421a6267c4f991645b711d909dc5b69a7091c5b7e833b129e0";
  expect(createHash("sha256").update(text).digest("hex")).toBe(frozen);
});

/** Runs the SQL of the first site, with every column of a sign-up. It stays as it is; the SQL of later sites may be added. */
it("the migrated database serves the site of the initial migration, which runs until it is replaced", async () => {
  await migrate(database);
  const columns = `id, name, email, company, job_title, suspected_spam, disposable_email, unusual_volume,
    utm_source, utm_medium, utm_campaign, utm_term, utm_content, referrer_host, notice_id, token_hash`;
  const run = (sql: string, ...values: string[]) => queryAs(database.webUrl, sql, values);
  const notice = createHash("sha256").update("text").digest("hex").slice(0, 32);
  const addNotice = "INSERT INTO public.earlyaccess_notices (id, text) VALUES ($1, $2) ON CONFLICT DO NOTHING";
  await run(addNotice, notice, "text");
  const flags = { suspected_spam: false, disposable_email: false, unusual_volume: false };
  const entryOf = (name: string, token_hash: string) => {
    const typed = { name, email: `${name}@example.com`, company: "Engines" };
    return { id: randomUUID(), ...typed, ...flags, notice_id: notice, token_hash };
  };
  const entries = [entryOf("ada", "\\x01"), entryOf("bob", "\\x02")];
  const turn = `WITH turn AS MATERIALIZED (
    SELECT set_config('lock_timeout', '1900ms', true), pg_advisory_xact_lock('public.earlyaccess'::regclass::oid::bigint),
      set_config('lock_timeout', '400ms', true), pg_logical_emit_message(true, 'earlyaccess', ''), $1::json AS batch)`;
  const signUp = `${turn} INSERT INTO public.earlyaccess (${columns})
    SELECT ${columns} FROM turn, json_populate_recordset(null::public.earlyaccess, batch) ON CONFLICT DO NOTHING`;
  for (const batch of [[], entries, entries]) await run(signUp, JSON.stringify(batch));
  await database.query("UPDATE earlyaccess SET mail_tokens = ARRAY['\\x03'::bytea] WHERE name = 'bob'");
  const follow = `${turn}
    SELECT CASE WHEN confirms THEN public.earlyaccess_confirm(hash::bytea) ELSE public.earlyaccess_leave(hash::bytea) END AS done
    FROM turn, ROWS FROM (json_to_recordset(batch) AS (confirms boolean, hash text)) WITH ORDINALITY AS link (confirms, hash, position)
    ORDER BY position`;
  const links = ["\\x01", "\\x03"].map((hash) => ({ confirms: true, hash }));
  expect(await run(follow, JSON.stringify(links))).toEqual([{ done: false }, { done: true }]);
  expect(await run(follow, '[{ "confirms": false, "hash": "\\\\x01" }]')).toEqual([{ done: true }]);
  const countViews = `SELECT public.earlyaccess_count_views(day, source, views)
    FROM json_to_recordset($1::json) AS counted (day date, source text, views int) ORDER BY day, source`;
  for (let i = 0; i < 2; i++) await run(countViews, '[{ "day": "2026-01-31", "source": "news", "views": 2 }]');
  expect(await database.query("SELECT name, confirmed_at IS NOT NULL AS confirmed FROM earlyaccess")).toEqual([
    { name: "bob", confirmed: true },
  ]);
  expect(await database.query("SELECT source, views FROM earlyaccess_views")).toEqual([{ source: "news", views: 4 }]);
});

it("migrating stops at a migration of its own that is recorded as unfinished", async () => {
  await migrate(database);
  await database.query("UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = $1", [initial]);
  const { message } = (await migrate(database).catch((error: unknown) => error)) as Error;
  expect(message).toContain(`Migration ${initial} in public._prisma_migrations did not finish`);
  const [, update = ""] = /If it did: (UPDATE [^;]+;)/.exec(message) ?? [];
  await database.query(update);
  expect(await migrate(database)).toEqual({ applied: [], warnings: [] });
});

it("migrating succeeds in five concurrent runs on an empty database", async () => {
  const results = await Promise.all(Array.from({ length: 5 }, () => migrate(database)));
  expect(results.flatMap(({ applied }) => applied)).toEqual(migrations.filter((name) => /^\d/.test(name)).toSorted());
});

it("a role that may not migrate takes no lock", async () => {
  await migrate(database);
  await withClient(database.ownerUrl, async (holder) => {
    await holder.query("SELECT pg_advisory_lock(72707369)");
    const webOnly = { ownerUrl: database.webUrl, webUrl: database.webUrl };
    expect(await migrate(webOnly)).toEqual({ applied: undefined, warnings: [] });
  });
});

it.each(["LATIN1", "SQL_ASCII"])("migrating refuses a database in %s in one line", async (encoding) => {
  const other = await createEmptyDatabase(`TEMPLATE template0 LOCALE 'C' ENCODING '${encoding}'`);
  const message = expect.stringMatching(`^The encoding of the database is ${encoding}, .*$`) as string;
  await expect(migrate(other)).rejects.toMatchObject({ name: "OperatorError", message });
});

it("the list stores no address in two spellings, also from the owner", async () => {
  await migrate(database);
  await expect(database.query(insertEntry.replace("a@b.co", "A@b.co"))).rejects.toMatchObject({ code: "23514" });
});

it("the list records every change of a status, and nobody can change or delete the record or a notice", async () => {
  await migrate(database);
  await database.query(`${insertEntry}; UPDATE earlyaccess SET status = 'invited'`);
  await database.query("UPDATE earlyaccess SET status = 'invited', company = 'D'");
  // One transaction, whose start is not the time of the change, which is rounded to milliseconds.
  const [{ later } = {}] = await database.asSuperuser(`SELECT pg_sleep(0.02); UPDATE earlyaccess SET status = 'joined';
    SELECT max(changed_at) BETWEEN now() + interval '10 ms' AND clock_timestamp() + interval '1 ms' AS later FROM earlyaccess_status_changes`);
  expect(later).toBe(true);
  const trace = "SELECT changed_by, old_status, new_status FROM earlyaccess_status_changes ORDER BY id";
  const owner = `${database.name}_owner`;
  const changes = [
    { changed_by: owner, old_status: "waiting", new_status: "invited" },
    { changed_by: "postgres", old_status: "invited", new_status: "joined" },
  ];
  expect(await database.query(trace)).toEqual(changes);
  for (const table of ["earlyaccess_status_changes", "earlyaccess_notices"])
    for (const change of [`UPDATE ${table} SET id = id`, `DELETE FROM ${table}`, `TRUNCATE ${table}`])
      await expect(database.query(change)).rejects.toThrow(`${table} is append-only`);
  await database.query("DELETE FROM earlyaccess");
  expect(await database.query(trace)).toEqual(changes);
});

it("a migration is applied and recorded at once or not at all, and either by migrating or by prisma migrate deploy", async () => {
  const folder = await mkdtemp(join(tmpdir(), "perennial-migrations-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await cp(join(projectRoot, "prisma/migrations"), folder, { recursive: true });
  const name = "29990101000000_next";
  await mkdir(join(folder, name));
  const apply = async (sql: string) => {
    await writeFile(join(folder, name, "migration.sql"), sql);
    return withConnection(database.ownerUrl, (owner) => applyMigrations(owner, folder), begin);
  };
  const columns = "checksum, applied_steps_count, logs, rolled_back_at, finished_at > started_at AS finished";
  const records = () => database.query(`SELECT ${columns} FROM _prisma_migrations WHERE migration_name = $1`, [name]);
  const sql = "CREATE TABLE half (x int);";
  const fails = async (statements: string, error: object) => {
    await expect(apply(statements)).rejects.toMatchObject(error);
    expect(await database.query("SELECT to_regclass('half') AS half")).toEqual([{ half: null }]);
    expect(await records()).toEqual([]);
  };
  await fails(`${sql} SELECT 1 / 0;`, { message: `Migration ${name} failed: division by zero`, code: "22012" });
  await database.query("ALTER TABLE _prisma_migrations ADD CONSTRAINT no CHECK (migration_name NOT LIKE '%_next')");
  await fails(sql, { code: "23514" });
  await database.query("ALTER TABLE _prisma_migrations DROP CONSTRAINT no");
  expect(await apply(sql)).toEqual([name]);
  const kept = "COMMIT; SELECT name FROM pg_settings WHERE source = 'session'";
  expect(await queryAs(database.ownerUrl, `${begin}; ${kept}`)).toEqual([]);
  const checksum = createHash("sha256").update(sql).digest("hex");
  expect(await records()).toEqual([
    { checksum, applied_steps_count: 1, logs: null, rolled_back_at: null, finished: true },
  ]);
});
