// Migrating a real Postgres, and what the web role may do there afterwards.
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createEmptyDatabase, superuserUrl, type TestDatabase } from "../../tests/support/database.ts";
import { projectRoot } from "../project-root.ts";
import { migrate } from "./migrate.ts";
import { MissingRightError } from "./roles.ts";
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

async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

const asWeb = (sql: string) => withClient(database.webUrl, (client) => client.query(sql));
const asSuperuser = (sql: string) =>
  withClient(superuserUrl(new URL(database.ownerUrl).pathname.slice(1)), (client) => client.query(sql));
const webRole = () => decodeURIComponent(new URL(database.webUrl).username);
const denied = { code: "42501" };

describe("migrate", () => {
  it("makes the table and the restricted role, and finds nothing to do the next time", async () => {
    const first = await migrate(database);
    expect(first).toMatchObject({
      applied: migrationNames,
      webRole: "restricted",
    });
    expect(applyMigrations).toHaveBeenCalledTimes(1);
    expect(await migrate(database)).toEqual({ applied: [], rights: [], webRole: "restricted" });
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
    expect((await migrate(ownerOnly)).webRole).toBe("owner");
  });

  it("with only the web role's connection changes nothing", async () => {
    await migrate(database);
    const webOnly = { ownerUrl: database.webUrl, webUrl: database.webUrl };
    expect(await migrate(webOnly)).toEqual({ applied: [], rights: [], webRole: "unprivileged" });
  });

  it("with only a role that may not make the missing table names the way out", async () => {
    await asSuperuser(`CREATE ROLE ${webRole()} LOGIN PASSWORD 'it''s secret'`);
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

describe("the web role", () => {
  it("has no right on the record of imports, and cannot run what protects sign-ups from their removal", async () => {
    await migrate(database);
    await withClient(database.webUrl, async (web) => {
      for (const right of ["SELECT * FROM", "DELETE FROM", "INSERT INTO"]) {
        const values = right === "INSERT INTO" ? " DEFAULT VALUES" : "";
        await expect(web.query(`${right} earlyaccess_imports${values}`)).rejects.toMatchObject({ code: "42501" });
      }
      const { rows } = await web.query("SELECT has_function_privilege('earlyaccess_keep_sign_up()', 'EXECUTE') AS may");
      expect(rows).toEqual([{ may: false }]);
    });
  });

  it("leaves a trace of every change of a status, which nobody can wipe", async () => {
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

  it("can insert, and can neither read, change nor delete", async () => {
    await migrate(database);
    await asWeb(
      "INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'A', 'a@b.co', 'C') ON CONFLICT DO NOTHING",
    );
    const refused = [
      "SELECT * FROM earlyaccess",
      "SELECT count(*) FROM earlyaccess",
      "SELECT email FROM earlyaccess",
      "UPDATE earlyaccess SET name = 'B'",
      "DELETE FROM earlyaccess",
      "TRUNCATE earlyaccess",
      "INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'A', 'c@b.co', 'C') RETURNING id",
      "COPY earlyaccess TO STDOUT",
      "DROP TABLE earlyaccess",
      "ALTER TABLE earlyaccess ADD COLUMN x int",
      "SELECT * FROM _prisma_migrations",
      "CREATE TABLE public.mine (x int)",
      "CREATE TEMPORARY TABLE mine (x int)",
      "CREATE SCHEMA mine",
      "CREATE ROLE mine",
      "SET ROLE pg_read_all_data",
    ];
    for (const sql of refused) await expect(asWeb(sql), sql).rejects.toMatchObject(denied);
    expect(await database.query("SELECT name FROM earlyaccess")).toEqual([{ name: "A" }]);
  });

  it("loses whatever more it was given", async () => {
    await migrate(database);
    const role = webRole();
    await asSuperuser(`ALTER ROLE ${role} CREATEDB CREATEROLE BYPASSRLS`);
    await asSuperuser(`GRANT pg_read_all_data TO ${role}`);
    await asSuperuser(`GRANT SELECT (email), UPDATE ON earlyaccess TO ${role}`);
    await asSuperuser(`GRANT SELECT ON _prisma_migrations TO PUBLIC`);
    await asSuperuser(`GRANT CREATE ON SCHEMA public TO ${role}`);
    await asSuperuser(`GRANT INSERT ON earlyaccess TO ${role} WITH GRANT OPTION`);
    await asSuperuser(`GRANT MAINTAIN ON earlyaccess TO ${role}`);
    await asSuperuser(`GRANT SELECT ON pg_authid TO ${role}`);
    await asSuperuser(`GRANT EXECUTE ON FUNCTION pg_read_file(text) TO ${role}`);
    await asSuperuser(
      "CREATE FUNCTION peek() RETURNS SETOF earlyaccess LANGUAGE sql SECURITY DEFINER AS 'SELECT * FROM earlyaccess'",
    );
    // What a superuser gave, the owner may not take: it says what an administrator has to run.
    const failure = await migrate(database).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(MissingRightError);
    const statements = (failure as Error).message.split("\n").filter((line) => line.endsWith(";"));
    for (const statement of statements) await asSuperuser(statement);
    expect((await migrate(database)).webRole).toBe("restricted");
    const refused = [
      "SELECT email FROM earlyaccess",
      "SELECT * FROM _prisma_migrations",
      "CREATE TABLE x (y int)",
      "BEGIN; LOCK TABLE earlyaccess IN ACCESS EXCLUSIVE MODE",
      "SELECT * FROM pg_authid",
      "SELECT pg_read_file('PG_VERSION')",
      "SELECT * FROM peek()",
    ];
    for (const sql of refused) await expect(asWeb(sql), sql).rejects.toMatchObject(denied);
    await asWeb("GRANT INSERT ON earlyaccess TO PUBLIC"); // A warning, and nothing is granted.
    expect(
      await database.query("SELECT FROM pg_class, aclexplode(relacl) WHERE relname = 'earlyaccess' AND grantee = 0"),
    ).toEqual([]);
  });

  it("does not own the table that it inserts into", async () => {
    await migrate(database);
    await asSuperuser(`ALTER TABLE earlyaccess OWNER TO ${webRole()}`);
    const superuser = { ...database, ownerUrl: superuserUrl(new URL(database.ownerUrl).pathname.slice(1)) };
    expect((await migrate(superuser)).webRole).toBe("restricted");
    await expect(asWeb("ALTER TABLE earlyaccess ADD COLUMN x int")).rejects.toMatchObject(denied);
    await expect(asWeb("SELECT * FROM earlyaccess")).rejects.toMatchObject(denied);
  });

  it("loses without an administrator what the owner gave", async () => {
    await migrate(database);
    await database.query(`GRANT SELECT, DELETE ON earlyaccess TO ${webRole()}`);
    await database.query(`REVOKE INSERT ON earlyaccess FROM ${webRole()}`);
    await migrate(database);
    await expect(asWeb("SELECT * FROM earlyaccess")).rejects.toMatchObject(denied);
    await asWeb("INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'A', 'a@b.co', 'C')");
  });

  it("that the owner may not make is left to an administrator, with the SQL for it", async () => {
    const owner = decodeURIComponent(new URL(database.ownerUrl).username);
    await asSuperuser(`ALTER ROLE ${owner} NOCREATEROLE`);
    const failure = (await migrate(database).catch((error: unknown) => error)) as Error;
    expect(failure).toBeInstanceOf(MissingRightError);
    expect(failure.message).not.toContain("it's secret");
    const statements = failure.message.split("\n").filter((line) => line.endsWith(";"));
    expect(statements[0]).toContain("CREATE ROLE");
    await asSuperuser(statements[0]?.replace("the password in its URL", "it''s secret") as string);
    for (const statement of statements.slice(1)) await asSuperuser(statement);
    expect((await migrate(database)).webRole).toBe("restricted");
  });
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
