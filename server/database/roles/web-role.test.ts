// The rights of the web role on a real Postgres: what migrating grants and revokes.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createEmptyDatabase, superuserUrl, type TestDatabase } from "../../../tests/support/database.ts";
import { queryAs } from "../../../tests/support/query.ts";
import { migrate } from "../migrate.ts";
import { MissingRightError } from "./set-up.ts";

const denied = { code: "42501" };
const insert = "INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'A', 'a@b.co', 'C')";

let database: TestDatabase;
let owner: string;
let web: string;

beforeEach(async () => {
  database = await createEmptyDatabase();
  owner = new URL(database.ownerUrl).username;
  web = new URL(database.webUrl).username;
});

afterEach(async () => {
  await database.drop();
  await queryAs(superuserUrl("postgres"), `DROP ROLE IF EXISTS ${web}_group`);
});

const superuser = () => superuserUrl(new URL(database.ownerUrl).pathname.slice(1));
const asWeb = (sql: string) => queryAs(database.webUrl, sql);
const asSuperuser = (sql: string) => queryAs(superuser(), sql);

describe("the rights of the web role", () => {
  it("are INSERT, and neither reading, changing nor deleting", async () => {
    await migrate(database);
    await asWeb(`${insert} ON CONFLICT DO NOTHING`);
    const refused = [
      "SELECT * FROM earlyaccess",
      "SELECT count(*) FROM earlyaccess",
      "SELECT email FROM earlyaccess",
      "UPDATE earlyaccess SET name = 'B'",
      "DELETE FROM earlyaccess",
      "TRUNCATE earlyaccess",
      `${insert.replace("a@b.co", "c@b.co")} RETURNING id`,
      "COPY earlyaccess TO STDOUT",
      "DROP TABLE earlyaccess",
      "ALTER TABLE earlyaccess ADD COLUMN x int",
      "SELECT * FROM earlyaccess_status_changes",
      "SELECT * FROM _prisma_migrations",
      "SELECT * FROM earlyaccess_views",
      "UPDATE earlyaccess_views SET views = 0",
      "DELETE FROM earlyaccess_views",
      "SELECT * FROM earlyaccess_imports",
      "INSERT INTO earlyaccess_imports DEFAULT VALUES",
      "DELETE FROM earlyaccess_imports",
      "CREATE TABLE public.mine (x int)",
      "CREATE SCHEMA mine",
      "CREATE ROLE mine",
      "SET ROLE pg_read_all_data",
    ];
    for (const sql of refused) await expect(asWeb(sql), sql).rejects.toMatchObject(denied);
    expect(await database.query("SELECT name FROM earlyaccess")).toEqual([{ name: "A" }]);
  });

  it.each(["'2026-01-31', 'x', 0", "'infinity', 'x', 1", "'10000-01-01', 'x', 1", "'0001-01-01 BC', 'x', 1"])(
    "do not include views that stats cannot show: %s",
    async (values) => {
      await migrate(database);
      const statement = `INSERT INTO earlyaccess_views (day, source, views) VALUES (${values})`;
      await expect(asWeb(statement)).rejects.toMatchObject({ code: "23514" });
    },
  );

  it("lose every other right on the site's own objects that was granted by name", async () => {
    await migrate(database);
    await database.query(`
      GRANT SELECT (email), UPDATE ON earlyaccess TO ${web};
      GRANT INSERT ON earlyaccess TO ${web} WITH GRANT OPTION;
      GRANT MAINTAIN ON earlyaccess TO ${web};
      GRANT ALL ON earlyaccess_status_changes, _prisma_migrations TO ${web};
      GRANT ALL ON SEQUENCE earlyaccess_status_changes_id_seq TO ${web};
      GRANT EXECUTE ON FUNCTION earlyaccess_log_status() TO ${web}`);
    const { rights } = await migrate(database);
    expect(rights).toHaveLength(6); // One per object, and one to grant INSERT on the columns again.
    const refused = [
      "SELECT email FROM earlyaccess",
      "UPDATE earlyaccess SET name = 'B'",
      "SELECT * FROM earlyaccess_status_changes",
      "SELECT nextval('earlyaccess_status_changes_id_seq')",
      "SELECT * FROM _prisma_migrations",
      "BEGIN; LOCK TABLE earlyaccess IN ACCESS EXCLUSIVE MODE",
    ];
    for (const sql of refused) await expect(asWeb(sql), sql).rejects.toMatchObject(denied);
    await asWeb(insert);
    await expect(asWeb(`GRANT INSERT ON earlyaccess TO ${owner}`)).rejects.toMatchObject(denied);
    expect(await migrate(database)).toEqual({ applied: [], rights: [], webRole: "restricted", findings: [] });
  });

  it("lose with a grant option what the web role granted to others by it", async () => {
    await migrate(database);
    await asSuperuser(`CREATE ROLE ${web}_group`);
    await database.query(`GRANT SELECT ON earlyaccess TO ${web} WITH GRANT OPTION`);
    await asWeb(`GRANT SELECT ON earlyaccess TO ${web}_group`);
    await migrate(database);
    const grantees =
      "SELECT FROM pg_class, aclexplode(relacl) WHERE relname = 'earlyaccess' AND privilege_type = 'SELECT'";
    expect(await database.query(grantees)).toHaveLength(1); // The owner's own.
  });

  it("are not those of the site's own functions after a restore without privileges", async () => {
    await migrate(database);
    await database.query("GRANT EXECUTE ON FUNCTION earlyaccess_log_status() TO PUBLIC");
    expect((await migrate(database)).rights).toEqual([
      "REVOKE EXECUTE ON FUNCTION public.earlyaccess_log_status() FROM PUBLIC",
    ]);
  });

  it("get INSERT back if it was revoked", async () => {
    await migrate(database);
    await database.query(`REVOKE INSERT ON earlyaccess FROM ${web}`);
    expect((await migrate(database)).rights).toEqual([
      expect.stringMatching(/^GRANT INSERT \(company\), .*INSERT \(utm_term\) ON public\.earlyaccess TO /),
    ]);
    await asWeb(insert);
  });

  it("may not store what only a mail, an admin or Postgres may set", async () => {
    await migrate(database);
    for (const column of [
      "confirmed_at",
      "mailed_at",
      "mail_refusal",
      "erasure_hash",
      "created_at",
      "status",
      "import_id",
    ]) {
      const sql = insert.replace("(id,", `(${column}, id,`).replace("VALUES (", "VALUES (NULL, ");
      await expect(asWeb(sql), sql).rejects.toMatchObject(denied);
    }
    const notice = "INSERT INTO earlyaccess_notices (id, text, shown_at) VALUES ('', '', now())";
    await expect(asWeb(notice)).rejects.toMatchObject(denied);
  });

  it("keep INSERT while another right is revoked", async () => {
    await migrate(database);
    await database.query(`GRANT SELECT ON earlyaccess TO ${web}`);
    const { rights } = await migrate(database);
    expect(rights).toEqual([`REVOKE SELECT ON public.earlyaccess FROM ${web} CASCADE`]);
  });

  it("leave to an administrator what another role granted, with the SQL", async () => {
    await migrate(database);
    await asSuperuser(`CREATE ROLE ${web}_group`);
    await database.query(`GRANT SELECT ON earlyaccess TO ${web}_group WITH GRANT OPTION`);
    await asSuperuser(`SET ROLE ${web}_group; GRANT SELECT ON earlyaccess TO ${web}; RESET ROLE`);
    const failure = (await migrate(database).catch((error: unknown) => error)) as Error;
    expect(failure).toBeInstanceOf(MissingRightError);
    for (const sql of failure.message.split("\n").filter((line) => line.endsWith(";"))) await asSuperuser(sql);
    await migrate(database);
    await expect(asWeb("SELECT * FROM earlyaccess")).rejects.toMatchObject(denied);
    await database.query(`REVOKE ALL ON earlyaccess FROM ${web}_group`);
  });

  it("leave to an administrator a role that the owner may not create, with the SQL", async () => {
    await asSuperuser(`ALTER ROLE ${owner} NOCREATEROLE`);
    const failure = (await migrate(database).catch((error: unknown) => error)) as Error;
    expect(failure).toBeInstanceOf(MissingRightError);
    expect(failure.message).not.toContain("it's a long secret");
    const [create = "", ...grants] = failure.message.split("\n").filter((line) => line.endsWith(";"));
    expect(create).toContain("CREATE ROLE");
    await asSuperuser(create.replace("its password", "it''s a long secret"));
    for (const grant of grants) await asSuperuser(grant);
    expect((await migrate(database)).webRole).toBe("restricted");
  });
});
