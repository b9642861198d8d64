// What migrating reports about the web role and leaves to an administrator.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createEmptyDatabase, superuserUrl, type TestDatabase } from "../../../tests/support/database.ts";
import { queryAs, withClient } from "../../../tests/support/query.ts";
import { migrate } from "../migrate.ts";
import { examineRole } from "./examine.ts";
import { formatFinding, type RoleFinding } from "./finding.ts";
import { webRole } from "./site-roles.ts";

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
const asSuperuser = (sql: string) => queryAs(superuser(), sql);

const statementsOf = (findings: RoleFinding[]) => findings.flatMap(({ statements }) => statements);

describe("findings about the web role", () => {
  /** What gives the role more, what the finding says, and whether production is refused. */
  const cases: [name: string, sql: string, text: RegExp, severity: RoleFinding["severity"]][] = [
    ["a superuser", "ALTER ROLE {web} SUPERUSER", /is a superuser/, "privileged"],
    ["CREATEROLE", "ALTER ROLE {web} CREATEROLE", /has CREATEROLE/, "problem"],
    ["REPLICATION", "ALTER ROLE {web} REPLICATION", /has REPLICATION/, "problem"],
    ["a member of the owner", "GRANT {owner} TO {web}", /is a member of \S+_owner: it can act as/, "privileged"],
    ["a member of pg_read_all_data", "GRANT pg_read_all_data TO {web}", /is a member of pg_read_all_data/, "problem"],
    [
      "a member of a group of a role that can read, without INHERIT",
      "CREATE ROLE {web}_group; GRANT pg_read_all_data TO {web}_group; ALTER ROLE {web} NOINHERIT; GRANT {web}_group TO {web}",
      /is a member of \S+_web_group, which could read or change/,
      "problem",
    ],
    [
      "a member of a role with SELECT on the list",
      "CREATE ROLE {web}_group; GRANT SELECT ON earlyaccess TO {web}_group; GRANT {web}_group TO {web}",
      /is a member of \S+_web_group/,
      "problem",
    ],
    ["PUBLIC", "GRANT SELECT ON earlyaccess TO PUBLIC", /as every role .* SELECT on public\.earlyaccess\./, "problem"],
    ["PUBLIC on a column", "GRANT UPDATE (name) ON earlyaccess TO PUBLIC", /UPDATE \(name\) on/, "problem"],
    [
      "the owner of a table",
      "ALTER TABLE earlyaccess_status_changes OWNER TO {web}",
      /owns TABLE public\.early/,
      "problem",
    ],
    ["the owner of the schema", "ALTER SCHEMA public OWNER TO {web}", /owns SCHEMA public/, "problem"],
    [
      "a reader of a view of a view",
      `CREATE SCHEMA crm; GRANT USAGE ON SCHEMA crm TO PUBLIC; CREATE VIEW crm.names AS SELECT name FROM public.earlyaccess;
       CREATE VIEW crm.sorted AS SELECT * FROM crm.names; GRANT SELECT ON crm.sorted TO PUBLIC`,
      /through crm\.sorted, /,
      "problem",
    ],
    [
      "a SECURITY DEFINER function",
      "CREATE FUNCTION peek() RETURNS SETOF earlyaccess LANGUAGE sql SECURITY DEFINER AS 'SELECT * FROM earlyaccess'",
      /through ROUTINE public\.peek\(\), /,
      "problem",
    ],
    [
      "CREATE for PUBLIC, as up to Postgres 14",
      "GRANT CREATE ON SCHEMA public TO PUBLIC",
      /may create objects in SCHEMA public/,
      "warning",
    ],
  ];

  it.each(cases)(
    "name %s, with SQL that ends it, and migrating changes nothing of it",
    async (_, sql, text, severity) => {
      // By a superuser: a role that the owner creates is administered by the owner, and cannot become its member.
      await asSuperuser(`CREATE ROLE ${web} LOGIN PASSWORD 'it''s a long secret'`);
      await migrate(database);
      await asSuperuser(sql.replaceAll("{web}", web).replaceAll("{owner}", owner));
      const { findings, rights } = await migrate(database);
      expect(rights).toEqual([]);
      expect(findings).toEqual([
        { severity, text: expect.stringMatching(text), statements: expect.arrayContaining([expect.any(String)]) },
      ]);
      // The same from the other connection, which may read nothing but catalogs.
      expect(
        await withClient(database.webUrl, (client) => examineRole(client, webRole(database.webUrl), owner)),
      ).toEqual(findings);
      for (const statement of statementsOf(findings)) await asSuperuser(statement);
      expect((await migrate(database)).findings).toEqual([]);
      await asSuperuser(`DROP OWNED BY ${web}`);
    },
  );

  it("name exchanged URLs, and nothing is changed", async () => {
    await migrate(database);
    const exchanged = { ownerUrl: database.webUrl, webUrl: database.ownerUrl };
    const { findings, ...result } = await migrate(exchanged);
    expect(result).toEqual({ applied: [], rights: [], webRole: "unprivileged" });
    expect(findings).toEqual([
      { severity: "privileged", text: expect.stringContaining("exchange the two URLs"), statements: [] },
    ]);
    await expect(migrate(exchanged, false)).rejects.toThrow("ALLOW_PRIVILEGED_ROLE=true");
  });

  it("name exchanged URLs before the first migration, without SQL that gives the database away", async () => {
    await asSuperuser(`CREATE ROLE ${web} LOGIN PASSWORD 'it''s a long secret'`);
    const exchanged = { ownerUrl: database.webUrl, webUrl: database.ownerUrl };
    const failure = (await migrate(exchanged).catch((error: unknown) => error)) as Error;
    expect(failure.message).toMatch(/does not exist .*\n.*exchange the two URLs\.$/);
    expect(failure.message).not.toMatch(/ALTER|REVOKE/);
  });

  it("name the owner as the only role", async () => {
    const ownerOnly = { ownerUrl: database.ownerUrl, webUrl: database.ownerUrl };
    await expect(migrate(ownerOnly, false)).rejects.toThrow("acts as the waitlist's owner");
    expect(await database.query("SELECT FROM pg_tables WHERE schemaname = 'public'")).toEqual([]); // Refused first.
    const { findings } = await migrate(ownerOnly);
    expect(findings.map(formatFinding)).toEqual([expect.stringMatching(/Set DATABASE_OWNER_URL to this URL/)]);
  });

  it("name an owner's URL whose role does not own the list", async () => {
    await migrate({ ...database, ownerUrl: superuser() });
    const { findings, ...result } = await migrate(database);
    expect(result.webRole).toBe("unprivileged");
    expect(findings.map(({ severity, text }) => [severity, text])).toEqual([
      ["warning", expect.stringMatching(/DATABASE_OWNER_URL names "\S+_owner", but "postgres" owns the waitlist/)],
    ]);
  });

  it("name the superuser that initdb made, without SQL that would take its rights", async () => {
    await migrate(database);
    const { findings } = await migrate({ ...database, webUrl: superuser() });
    expect(findings).toEqual([
      { severity: "privileged", text: expect.stringContaining("is a superuser"), statements: [] },
    ]);
  });
});
