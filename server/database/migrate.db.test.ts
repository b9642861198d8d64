// Migrating a real Postgres: the runner of migrations, and the schema that they make.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { createEmptyDatabase, insertEntry, type TestDatabase } from "../../tests/support/database.ts";
import { withClient } from "../../tests/support/postgres.ts";
import { fields } from "../../client/shared/fields.ts";
import { projectRoot } from "../config/project-root.ts";
import { migrate } from "./migrate.ts";
import { workerTasks } from "../config/database-urls.ts";

const folder = join(projectRoot, "prisma/migrations");
const migrations = (await readdir(folder)).filter((name) => /^\d/.test(name)).toSorted();

let database: TestDatabase;

beforeEach(async () => {
  database = await createEmptyDatabase();
});

/** Runs git in the project. Returns "" where it has no history, as in an unpacked archive. */
const git = (...args: string[]) =>
  promisify(execFile)("git", args, { cwd: projectRoot }).then(
    ({ stdout }) => stdout,
    () => "",
  );

it("no migration of the latest tag is changed, its comments neither: with another text, migrating refuses every database", async () => {
  const tag = (await git("describe", "--tags", "--abbrev=0")).trim();
  const landed = tag ? (await git("ls-tree", "-r", "--name-only", tag, "prisma/migrations/")).trim().split("\n") : [];
  for (const path of landed) {
    expect([path, await readFile(join(projectRoot, path), "utf8")]).toEqual([
      path,
      await git("show", `${tag}:${path}`),
    ]);
  }
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
  await database.query("ALTER TABLE earlyaccess DROP COLUMN job_title");
  const message = expect.stringContaining(
    'column "job_title" of relation "earlyaccess" does not exist. A field',
  ) as string;
  await expect(migrate(database)).rejects.toMatchObject({ name: "OperatorError", message });
});

it("the table takes the longest text of each field", async () => {
  await migrate(database);
  const columns = await database.query(
    "SELECT column_name AS name, character_maximum_length::int AS length FROM information_schema.columns WHERE table_name = 'earlyaccess'",
  );
  expect(columns).toEqual(expect.arrayContaining(fields.map(({ name, maxLength }) => ({ name, length: maxLength }))));
});

it("no index depends on the system's collation, whose order changes with its version", async () => {
  await migrate(database);
  const others = `SELECT indexrelid::regclass::text AS name FROM pg_index JOIN pg_class t ON t.oid = indrelid, unnest(indcollation) AS used
    WHERE starts_with(relname, 'earlyaccess') AND used NOT IN (0, '"C"'::regcollation)`;
  expect(await database.query(others)).toEqual([]);
});

it("a database of an earlier version is refused unchanged", async () => {
  await migrate(database);
  const change = "UPDATE _prisma_migrations SET checksum = 'x'";
  await database.query(`${change}; ${insertEntry}; GRANT SELECT ON earlyaccess TO PUBLIC`);
  const message = expect.stringMatching(
    /^A version before the first release made this database, .* docs\/upgrade\.md, .*$/,
  ) as string;
  await expect(migrate(database)).rejects.toMatchObject({ name: "OperatorError", message });
  const [row] = await database.query(
    "SELECT has_table_privilege(0, 'earlyaccess', 'SELECT') AS granted FROM earlyaccess",
  );
  expect(row).toEqual({ granted: true });
});

it("migrating succeeds in eight concurrent runs on an empty database, with everything that it can set", async () => {
  const worker = { url: database.workerUrl, tasks: [...workerTasks] };
  const settings = { ...database, adminUrl: database.adminRoleUrl, worker };
  const results = await Promise.all(Array.from({ length: 8 }, () => migrate(settings)));
  expect(results.flat()).toEqual(migrations);
  // If nothing is left to do, it needs no lock that sign-ups exclude.
  await withClient(database.ownerUrl, async (holder) => {
    await holder.query("BEGIN; LOCK TABLE earlyaccess IN ROW EXCLUSIVE MODE");
    expect(await migrate(settings)).toEqual([]);
    const message = expect.stringContaining(" lock timeout. Another session holds the lock: try again.") as string;
    await expect(migrate({ ...settings, worker: undefined })).rejects.toMatchObject({ code: "55P03", message });
  });
});

it("a role that may not migrate takes no lock", async () => {
  await migrate(database);
  await withClient(database.ownerUrl, async (holder) => {
    await holder.query("SELECT pg_advisory_lock(72707369)");
    const refused = migrate({ ownerUrl: database.webUrl, webUrl: database.webUrl });
    await expect(refused).rejects.toThrow(`Nothing was migrated: "${database.name}_web" may not migrate.`);
  });
});

it.each(["LATIN1", "SQL_ASCII"])("migrating refuses a database in %s in one line", async (encoding) => {
  const other = await createEmptyDatabase(`TEMPLATE template0 LOCALE 'C' ENCODING '${encoding}'`);
  const refusal = await migrate(other).catch((error: unknown) => error);
  const message = `The encoding of the database is ${encoding}, which cannot store every name. Create another one, with: TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'`;
  expect(refusal).toMatchObject({ name: "OperatorError", message });
  // The remedy also works where the locale of the server has another encoding.
  const [, remedy] = / with: (TEMPLATE .* LOCALE 'C')$/.exec((refusal as Error).message) ?? [];
  expect(await migrate(await createEmptyDatabase(remedy))).toEqual(migrations);
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
  for (const table of ["earlyaccess_status_changes", "earlyaccess_notices"]) {
    for (const change of [`UPDATE ${table} SET id = id`, `DELETE FROM ${table}`, `TRUNCATE ${table}`]) {
      await expect(database.query(change)).rejects.toThrow(`${table} is append-only`);
    }
  }
  await database.query("DELETE FROM earlyaccess");
  expect(await database.query(trace)).toEqual(changes);
});

it("all pending migrations are applied and recorded, or none, and without them no role is created", async () => {
  const copy = await mkdtemp(join(tmpdir(), "perennial-migrations-"));
  onTestFinished(() => rm(copy, { recursive: true }));
  await cp(folder, copy, { recursive: true });
  const write = async (name: string, sql: string) => {
    await mkdir(join(copy, name), { recursive: true });
    await writeFile(join(copy, name, "migration.sql"), sql);
  };
  // The queue stays in the database: it is no other program's.
  const apply = () => migrate({ ...database, worker: { url: database.workerUrl, tasks: [] } }, { folder: copy });
  const [next, last] = ["29990101000000_next", "29990102000000_last"];
  // Sign-ups queue behind a migration that waits for their table, so it gives up after 5 s: migrating divides by 0 otherwise.
  await write(next, "CREATE TABLE half (x int); SELECT 1 / (current_setting('lock_timeout') = '5s')::int;");
  const fails = async (sql: string, error: object) => {
    await write(last, sql);
    const state = `SELECT to_regclass('half') AS half, to_regrole('${database.name}_web') AS web, to_regclass('earlyaccess') AS list`;
    const before = await database.query(state);
    await expect(apply()).rejects.toMatchObject(error);
    expect(await database.query(state)).toEqual(before);
  };
  const division = { message: `Migration ${last} failed: division by zero`, code: "22012" };
  await fails("CREATE TABLE other (x int); SELECT 1 / 0;", division);
  await migrate(database);
  await fails("SELECT 1 / 0", division);
  await database.query("ALTER TABLE _prisma_migrations ADD CONSTRAINT no CHECK (migration_name NOT LIKE '%_last')");
  await fails("SELECT 1", { code: "23514" });
  await database.query("ALTER TABLE _prisma_migrations DROP CONSTRAINT no");
  // Prisma's own record of one that failed, and the record of a later version, after a roll back.
  await database.query(`INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at)
    VALUES ('x', 'x', '${last}', NULL), ('y', 'y', '29981231000000_unknown', now())`);
  expect(await apply()).toEqual([next, last]);
  await database.query("DELETE FROM _prisma_migrations WHERE id IN ('x', 'y')");
  const records = await database.query(
    `SELECT migration_name AS name, checksum, applied_steps_count, logs, rolled_back_at, finished_at > started_at AS finished
     FROM _prisma_migrations ORDER BY 1`,
  );
  const checksum = createHash("sha256").update("SELECT 1").digest("hex");
  expect(records.map(({ name }) => name)).toEqual([...migrations, next, last]);
  const written = { name: last, checksum, applied_steps_count: 1, logs: null, rolled_back_at: null, finished: true };
  expect(records.at(-1)).toEqual(written);
});
