// Migrating a real Postgres: the runner of migrations, and the schema that they make.
import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { createEmptyDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { withClient } from "../../tests/support/query.ts";
import { projectRoot } from "../project-root.ts";
import { applyMigrations, migrate } from "./migrate.ts";

const initial = "20261122230000_initial";
const migrations = await readdir(join(projectRoot, "prisma/migrations"));

let database: TestDatabase;

beforeEach(async () => {
  database = await createEmptyDatabase();
});

/** Returns the columns that prisma/schema.prisma describes; a list is never null. */
async function readSchema(): Promise<string[]> {
  const schema = await readFile(join(projectRoot, "prisma/schema.prisma"), "utf8");
  return [...schema.matchAll(/^model \w+ \{\n([^}]*)@@map\("(\w+)"\)/gm)].flatMap(([, body = "", table]) =>
    [...body.matchAll(/^ {2}(\w+) +\w+(\[\]|\?)?/gm)].map(
      ([, name, mark]) => `${table} ${name} ${mark ? "NULL" : "NOT NULL"}`,
    ),
  );
}

it("migrating makes the columns of schema.prisma, and requires the same ones", async () => {
  await migrate(database);
  const columns = await database.query(
    `SELECT concat_ws(' ', table_name, column_name, CASE is_nullable WHEN 'YES' THEN 'NULL' ELSE 'NOT NULL' END) AS line
     FROM information_schema.columns WHERE table_schema = 'public' AND table_name LIKE 'earlyaccess%'`,
  );
  expect(columns.map(({ line }) => line as string).toSorted()).toEqual((await readSchema()).toSorted());
});

it("migrating stops at a migration of its own that is recorded as unfinished", async () => {
  await migrate(database);
  await database.query("UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = $1", [initial]);
  await expect(migrate(database)).rejects.toThrow(`Migration ${initial} in public._prisma_migrations did not finish`);
});

it("migrating succeeds in five concurrent runs on an empty database", async () => {
  const results = await Promise.all(Array.from({ length: 5 }, () => migrate(database)));
  expect(results.flatMap(({ applied }) => applied)).toEqual(
    migrations.filter((name) => /^\d{14}_/.test(name)).toSorted(),
  );
});

it("migrating with only the web role's connection changes nothing", async () => {
  await migrate(database);
  const webOnly = { ownerUrl: database.webUrl, webUrl: database.webUrl };
  expect(await migrate(webOnly)).toEqual({ applied: [], created: [], webRole: "unprivileged", warnings: [] });
});

it.each(["LATIN1", "SQL_ASCII"])("migrating refuses a database in %s in one line", async (encoding) => {
  const other = await createEmptyDatabase(`TEMPLATE template0 LOCALE 'C' ENCODING '${encoding}'`);
  const message = expect.stringMatching(`^The encoding of the database is ${encoding}, .*$`) as string;
  await expect(migrate(other)).rejects.toMatchObject({ name: "OperatorError", message });
});

it("migrating does not wait for ever for another migration", async () => {
  await migrate(database);
  await withClient(database.webUrl, async (other) => {
    await other.query("SELECT pg_advisory_lock(72707369)"); // Any role may take it.
    const message = expect.stringContaining("names a pooler in transaction mode") as string;
    await expect(migrate(database)).rejects.toMatchObject({ name: "OperatorError", code: "55P03", message });
  });
});

it("the list stores no address in two spellings, also from the owner", async () => {
  await migrate(database);
  const insert = "INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'A', 'A@b.co', 'C')";
  await expect(database.query(insert)).rejects.toMatchObject({ code: "23514" });
});

it("the list records every change of a status, and nobody can delete the record", async () => {
  await migrate(database);
  await database.query(
    "INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'Ada', 'a@b.co', 'C')",
  );
  await database.query("UPDATE earlyaccess SET status = 'invited'");
  await database.query("UPDATE earlyaccess SET status = 'invited', company = 'D'");
  await database.query("UPDATE earlyaccess SET status = 'joined'");
  const trace = "SELECT changed_by, old_status, new_status FROM earlyaccess_status_changes ORDER BY id";
  const owner = new URL(database.ownerUrl).username;
  const changes = [
    { changed_by: owner, old_status: "waiting", new_status: "invited" },
    { changed_by: owner, old_status: "invited", new_status: "joined" },
  ];
  expect(await database.query(trace)).toEqual(changes);
  for (const wipe of [
    "UPDATE earlyaccess_status_changes SET changed_by = 'x'",
    "DELETE FROM earlyaccess_status_changes",
    "TRUNCATE earlyaccess_status_changes",
  ]) {
    await expect(database.query(wipe)).rejects.toThrow("earlyaccess_status_changes is append-only");
  }
  await database.query("DELETE FROM earlyaccess");
  expect(await database.query(trace)).toEqual(changes);
});

describe("a migration", () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "perennial-migrations-"));
    await cp(join(projectRoot, "prisma/migrations"), folder, { recursive: true });
    return () => rm(folder, { recursive: true });
  });

  async function apply(name: string, sql: string): Promise<string[]> {
    await mkdir(join(folder, name), { recursive: true });
    await writeFile(join(folder, name, "migration.sql"), sql);
    return withClient(database.ownerUrl, (owner) => applyMigrations(owner, folder));
  }

  it("that fails leaves nothing behind, says why, and can be tried again when it is mended", async () => {
    const name = "29990101000000_next";
    const failed = apply(name, "CREATE TABLE half (x int);\nSELECT 1 / 0;");
    await expect(failed).rejects.toMatchObject({
      message: `Migration ${name} failed: division by zero`,
      code: "22012",
    });
    expect(await database.query("SELECT to_regclass('half') AS half")).toEqual([{ half: null }]);
    expect(await database.query("SELECT FROM _prisma_migrations WHERE migration_name = $1", [name])).toEqual([]);
    expect(await apply(name, "CREATE TABLE whole (x int);")).toEqual([name]);
  });

  it("is applied and recorded in one transaction", async () => {
    await apply("29990101000000_first", "SELECT 1");
    await database.query("ALTER TABLE _prisma_migrations ADD CHECK (migration_name NOT LIKE '%_next')");
    await expect(apply("29990101000001_next", "CREATE TABLE half (x int)")).rejects.toMatchObject({ code: "23514" });
    expect(await database.query("SELECT to_regclass('half') AS half")).toEqual([{ half: null }]);
  });

  it("leaves the record that prisma migrate deploy would leave, so that either can apply the next one", async () => {
    await apply("29990101000000_next", "SELECT 1");
    const columns = "checksum, applied_steps_count, logs, rolled_back_at, finished_at > started_at AS finished";
    const rows = await database.query(`SELECT ${columns} FROM _prisma_migrations ORDER BY migration_name DESC LIMIT 1`);
    const checksum = createHash("sha256").update("SELECT 1").digest("hex");
    expect(rows).toEqual([{ checksum, applied_steps_count: 1, logs: null, rolled_back_at: null, finished: true }]);
  });
});
