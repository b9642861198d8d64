// Migrating a real Postgres, and what the web role may do there afterwards.
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createEmptyDatabase, superuserUrl, type TestDatabase } from "../../tests/support/database.ts";
import { queryAs, withClient } from "../../tests/support/query.ts";
import { projectRoot } from "../project-root.ts";
import { migrate } from "./migrate.ts";
import { applyMigrations, writeMigration } from "./schema-engine.ts";

// The real engine, with its calls counted.
vi.mock("./schema-engine.ts", { spy: true });

const entries = await readdir(join(projectRoot, "prisma/migrations"), { withFileTypes: true });
const migrationNames = entries.flatMap((entry) => (entry.isDirectory() ? entry.name : [])).toSorted();

let database: TestDatabase;

beforeEach(async () => {
  vi.mocked(applyMigrations).mockClear();
  database = await createEmptyDatabase();
});

afterEach(() => database.drop());

const asSuperuser = (sql: string) => queryAs(superuserUrl(new URL(database.ownerUrl).pathname.slice(1)), sql);
const webRole = () => decodeURIComponent(new URL(database.webUrl).username);

describe("migrate", () => {
  it("makes the table and the restricted role, and finds nothing to do the next time", async () => {
    const first = await migrate(database);
    expect(first).toMatchObject({
      applied: migrationNames,
      webRole: "restricted",
    });
    expect(applyMigrations).toHaveBeenCalledTimes(1);
    expect(await migrate(database)).toEqual({ applied: [], rights: [], webRole: "restricted", findings: [] });
    expect(applyMigrations).toHaveBeenCalledTimes(1); // Seen without loading the engine.
    const columns = await database.query(
      "SELECT column_name FROM information_schema.columns WHERE table_name = 'earlyaccess' ORDER BY ordinal_position",
    );
    expect(columns.map((column) => column.column_name)).toEqual([
      "id",
      "name",
      "email",
      "company",
      "job_title",
      "created_at",
      "disposable_email",
      "suspected_spam",
      "referrer_host",
      "status",
      "utm_campaign",
      "utm_content",
      "utm_medium",
      "utm_source",
      "utm_term",
      "unusual_volume",
      "import_id",
    ]);
  });

  it.each([
    ["was never finished", "UPDATE _prisma_migrations SET finished_at = NULL"],
    ["is not recorded", "DELETE FROM _prisma_migrations"],
    ["has changed", "UPDATE _prisma_migrations SET checksum = 'other'"],
  ])("asks the engine where a migration %s", async (_, change) => {
    await migrate(database);
    await database.query(change);
    vi.mocked(applyMigrations).mockClear();
    await migrate(database).catch(() => undefined); // What the engine makes of it is the engine's.
    expect(applyMigrations).toHaveBeenCalledTimes(1);
  });

  it("five times at once on an empty database succeeds five times", async () => {
    const results = await Promise.all(Array.from({ length: 5 }, () => migrate(database)));
    expect(results.flatMap(({ applied }) => applied)).toEqual(migrationNames);
  });

  it("is recorded as `prisma migrate deploy` records it", async () => {
    await migrate(database);
    const rows = await database.query(
      "SELECT migration_name, finished_at IS NOT NULL AS done FROM _prisma_migrations ORDER BY started_at",
    );
    expect(rows).toEqual(migrationNames.map((migration_name) => ({ migration_name, done: true })));
  });

  it("with only the owner's connection works and says so", async () => {
    const ownerOnly = { ownerUrl: database.ownerUrl, webUrl: database.ownerUrl };
    expect((await migrate(ownerOnly)).webRole).toBe("privileged");
  });

  it("with only the web role's connection changes nothing", async () => {
    await migrate(database);
    const webOnly = { ownerUrl: database.webUrl, webUrl: database.webUrl };
    expect(await migrate(webOnly)).toEqual({ applied: [], rights: [], webRole: "unprivileged", findings: [] });
  });

  it("with only a role that may not make the missing table names the way out", async () => {
    await asSuperuser(`CREATE ROLE ${webRole()} LOGIN PASSWORD 'it''s a long secret'`);
    const webOnly = { ownerUrl: database.webUrl, webUrl: database.webUrl };
    await expect(migrate(webOnly)).rejects.toThrow("DATABASE_OWNER_URL");
  });
});

it("does not wait for ever for another migration", async () => {
  await migrate(database);
  await withClient(database.webUrl, async (other) => {
    await other.query("SELECT pg_advisory_lock(4155219)"); // Any role may take it.
    await expect(migrate(database)).rejects.toMatchObject({ code: "55P03" });
  });
});

it("stores no address twice in two spellings, whoever enters it", async () => {
  await migrate(database);
  const insert = "INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'A', 'A@b.co', 'C')";
  await expect(database.query(insert)).rejects.toMatchObject({ code: "23514" });
});

it("records every change of a status, and nobody can delete the record", async () => {
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
    await expect(database.query(wipe)).rejects.toThrow("earlyaccess_status_changes only grows");
  }
  await database.query("DELETE FROM earlyaccess");
  expect(await database.query(trace)).toEqual(changes);
});

describe("a migration", () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "perennial-prisma-"));
    await cp(join(projectRoot, "prisma"), folder, { recursive: true });
  });

  afterEach(() => rm(folder, { recursive: true }));

  async function addMigration(name: string, sql: string) {
    await mkdir(join(folder, "migrations", name), { recursive: true });
    await writeFile(join(folder, "migrations", name, "migration.sql"), sql);
  }

  it("that fails leaves nothing behind, says why, and can be tried again when it is mended", async () => {
    await addMigration("29990101000000_next", "CREATE TABLE half (x int);\nSELECT 1 / 0;");
    await expect(applyMigrations(database.ownerUrl, folder)).rejects.toThrow(
      "Migration 29990101000000_next failed: division by zero",
    );
    expect(await database.query("SELECT to_regclass('half') AS half")).toEqual([{ half: null }]);
    await addMigration("29990101000000_next", "CREATE TABLE whole (x int);");
    expect(await applyMigrations(database.ownerUrl, folder)).toEqual(["29990101000000_next"]);
  });

  it("may hold semicolons in strings and function bodies", async () => {
    const body = "CREATE FUNCTION one() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN 1; END $$; SELECT ';';";
    await addMigration("29990101000000_function", body);
    await applyMigrations(database.ownerUrl, folder);
    expect(await database.query("SELECT one()")).toEqual([{ one: 1 }]);
  });

  it("is written from what changed in the schema, and leads there", async () => {
    expect(await writeMigration(database.ownerUrl, "nothing", folder)).toBeUndefined();
    const schema = join(folder, "schema.prisma");
    const before = await readFile(schema, "utf8");
    await writeFile(schema, before.replace("  created_at", '  remark String @default("waiting")\n  created_at'));
    const written = await writeMigration(database.ownerUrl, "add_remark", folder);
    expect(written).toMatch(/\d{14}_add_remark$/);
    expect(await readFile(join(written as string, "migration.sql"), "utf8")).toContain('ADD COLUMN     "remark" TEXT');
    await applyMigrations(database.ownerUrl, folder);
    expect(await database.query("SELECT remark FROM earlyaccess")).toEqual([]);
    expect(await writeMigration(database.ownerUrl, "nothing", folder)).toBeUndefined();
  });

  it("was written for the schema as it is", async () => {
    const migrations = join(projectRoot, "prisma", "migrations");
    const latest = (await readdir(migrations))
      .filter((name) => /^\d/.test(name))
      .toSorted()
      .at(-1) as string;
    expect(await readFile(join(migrations, latest, "schema.prisma"), "utf8")).toBe(
      await readFile(join(projectRoot, "prisma", "schema.prisma"), "utf8"),
    );
  });
});
