// The rights of admins on a real Postgres, by the shared role and by personal logins.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createEmptyDatabase, superuserUrl, type TestDatabase } from "../../../tests/support/database.ts";
import { queryAs, withClient } from "../../../tests/support/query.ts";
import { migrate } from "../migrate.ts";
import { addAdmin, removeAdmin } from "./admins.ts";
import { listAdmins } from "./site-roles.ts";

const denied = { code: "42501" };
const insert = "INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'A', 'a@b.co', 'C')";
const refused = [
  insert,
  "UPDATE earlyaccess SET name = 'B'",
  "UPDATE earlyaccess SET status = 'left', name = 'B'",
  "TRUNCATE earlyaccess",
  "DROP TABLE earlyaccess",
  "DROP FUNCTION earlyaccess_log_status()",
  "ALTER TABLE earlyaccess DISABLE TRIGGER earlyaccess_status",
  "CREATE TRIGGER mine BEFORE UPDATE ON earlyaccess FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
  "INSERT INTO earlyaccess_status_changes (entry_id, changed_by, old_status, new_status) VALUES (gen_random_uuid(), 'me', 'left', 'left')",
  "UPDATE earlyaccess_status_changes SET changed_by = 'you'",
  "DELETE FROM earlyaccess_status_changes",
  "SELECT * FROM _prisma_migrations",
  "DELETE FROM _prisma_migrations",
  "CREATE TABLE public.mine (x int)",
  "CREATE ROLE mine",
  "SET ROLE pg_read_all_data",
];

let database: TestDatabase;
let admin: string;
let ownerRole: string;

beforeEach(async () => {
  const empty = await createEmptyDatabase();
  database = { ...empty, adminUrl: empty.adminRoleUrl };
  await migrate(database);
  [admin, ownerRole] = [new URL(empty.adminRoleUrl).username, new URL(empty.ownerUrl).username];
  await database.query(insert);
});

afterEach(() => database.drop());

async function expectAdminRights(url: string): Promise<void> {
  for (const sql of refused) await expect(queryAs(url, sql), sql).rejects.toMatchObject(denied);
  await queryAs(url, "UPDATE earlyaccess SET status = 'invited', batch = 'b' WHERE email = 'a@b.co'");
  for (const table of ["imports", "notices"])
    expect(await queryAs(url, `SELECT * FROM earlyaccess_${table}`)).toEqual([]);
  const { username } = new URL(url);
  expect(await queryAs(url, "SELECT changed_by, old_status, new_status FROM earlyaccess_status_changes")).toEqual([
    { changed_by: username, old_status: "waiting", new_status: "invited" },
  ]);
  expect(await queryAs(url, "DELETE FROM earlyaccess RETURNING email, status")).toEqual([
    { email: "a@b.co", status: "invited" },
  ]);
}

describe("the admin role", () => {
  it("cannot hold entries for long with a forgotten transaction, unless it changes its own setting", async () => {
    const [row] = await queryAs(database.adminRoleUrl, "SHOW idle_in_transaction_session_timeout");
    expect(row).toEqual({ idle_in_transaction_session_timeout: "30s" });
  });

  it("reads entries, traces, imports and notices, changes a status or a batch, deletes entries, and nothing else", async () => {
    await expectAdminRights(database.adminRoleUrl);
    expect(await migrate(database)).toEqual({ applied: [], rights: [], webRole: "restricted", findings: [] });
  });

  it("gets its rights back, and loses every other one on the site's own objects", async () => {
    await database.query(`
      REVOKE SELECT ON earlyaccess_status_changes FROM ${admin};
      GRANT SELECT, UPDATE (status) ON earlyaccess TO ${admin} WITH GRANT OPTION;
      GRANT INSERT, UPDATE (name), TRUNCATE ON earlyaccess TO ${admin};
      GRANT DELETE ON earlyaccess_status_changes, _prisma_migrations TO ${admin}`);
    await migrate(database);
    await expectAdminRights(database.adminRoleUrl);
    await queryAs(database.adminRoleUrl, `GRANT SELECT ON earlyaccess TO ${ownerRole}`); // A warning; nothing is granted.
    expect((await migrate(database)).rights).toEqual([]);
  });

  it.each([
    ["a superuser", "ALTER ROLE {admin} SUPERUSER", /, is a superuser, and could/],
    ["CREATEROLE", "ALTER ROLE {admin} CREATEROLE", /, has CREATEROLE, and could/],
    [
      "a member of the owner",
      "REVOKE {admin} FROM {owner}; GRANT {owner} TO {admin}",
      /, is a member of \S+_owner: it can/,
    ],
    [
      "the owner of a table",
      "ALTER TABLE earlyaccess_status_changes OWNER TO {admin}",
      /, owns TABLE public\.earlyaccess_st/,
    ],
  ])("is reported as %s, with SQL that ends it", async (_, sql, text) => {
    const superuser = superuserUrl(new URL(database.ownerUrl).pathname.slice(1));
    await queryAs(superuser, sql.replaceAll("{admin}", admin).replaceAll("{owner}", ownerRole));
    const { findings } = await migrate(database);
    expect(findings).toEqual([
      { severity: "problem", text: expect.stringMatching(text), statements: [expect.any(String)] },
    ]);
    await queryAs(superuser, findings[0]?.statements[0] ?? "");
    expect((await migrate(database)).findings).toEqual([]);
  });
});

it("what every role may do is reported once, for the web role", async () => {
  await database.query("GRANT SELECT ON earlyaccess TO PUBLIC");
  const { findings } = await migrate(database);
  expect(findings.map(({ text }) => text)).toEqual([
    expect.stringMatching(/^The role of DATABASE_URL, .* has, as every/),
  ]);
});

describe("a personal login", () => {
  const name = () => `ada_${admin}`;
  const asOwner = <T>(use: Parameters<typeof withClient<T>>[1]) => withClient(database.ownerUrl, use);
  const add = async () => {
    const url = new URL(database.adminRoleUrl);
    [url.username, url.password] = [name(), await asOwner((owner) => addAdmin(owner, name()))];
    return url.href;
  };
  const remove = () => asOwner((owner) => removeAdmin(owner, name()));

  it("has an admin's rights under its own name, until it is removed", async () => {
    const url = await add();
    expect(await asOwner(listAdmins)).toEqual([name()]);
    await expect(queryAs(url, `SET ROLE ${admin}`)).rejects.toMatchObject(denied);
    await expectAdminRights(url);
    expect(await migrate(database)).toMatchObject({ rights: [], findings: [] });
    await withClient(url, async (session) => {
      await remove();
      await expect(session.query("SELECT FROM earlyaccess")).rejects.toMatchObject(denied);
    });
    await expect(queryAs(url, "SELECT 1")).rejects.toMatchObject({ code: "28P01" });
    expect(await asOwner(listAdmins)).toEqual([]);
  });

  it("gets its rights back, as after a restore", async () => {
    const url = await add();
    await database.query(`REVOKE ALL ON earlyaccess, earlyaccess_status_changes FROM ${name()}`);
    await migrate(database);
    await expectAdminRights(url);
    await remove();
  });

  it("is reported if it could do more", async () => {
    await add();
    await queryAs(superuserUrl("postgres"), `GRANT pg_write_all_data TO ${name()}`);
    const { findings } = await migrate(database);
    const text = expect.stringMatching(/^The admin "ada_.*" is a member of pg_write_all_data, /) as string;
    expect(findings).toEqual([{ severity: "problem", text, statements: [expect.any(String)] }]);
    await queryAs(superuserUrl("postgres"), findings[0]?.statements[0] ?? "");
    await remove();
  });

  it("has no rights left if Postgres cannot drop it", async () => {
    const url = await add();
    await withClient(url, async (session) => {
      await session.query("SELECT lo_create(0)");
      await expect(remove()).rejects.toThrow(/^"ada_.*" has no rights and cannot log in any more, but owns something/);
      await expect(session.query("SELECT FROM earlyaccess")).rejects.toMatchObject(denied);
    });
    await expect(queryAs(url, "SELECT 1")).rejects.toMatchObject({ code: "28000" });
    await queryAs(superuserUrl(new URL(url).pathname.slice(1)), `DROP OWNED BY ${name()}`);
    await remove();
  });

  it("has a name that needs no quotes and is not the site's", async () => {
    const bad = ["Ada", "pg_ada", "perennial_notify", "public", "none", "a-b", "", "a".repeat(64), 'a"; DROP TABLE x'];
    for (const one of bad) {
      await expect(
        asOwner((owner) => addAdmin(owner, one)),
        one,
      ).rejects.toThrow(/^An admin's name begins with/);
    }
  });

  it("cannot take the name of another role, nor remove one", async () => {
    const web = new URL(database.webUrl).username;
    await expect(asOwner((owner) => addAdmin(owner, web))).rejects.toThrow("There is already a role");
    for (const other of [web, ownerRole, admin]) {
      const removal = asOwner((owner) => removeAdmin(owner, other));
      await expect(removal).rejects.toThrow("is not an admin. There are no admins.");
    }
  });
});

it("a function that another role creates in public does not run with the owner's rights", async () => {
  const superuser = superuserUrl(new URL(database.ownerUrl).pathname.slice(1));
  await queryAs(superuser, "GRANT CREATE ON SCHEMA public TO PUBLIC");
  const web = new URL(database.webUrl).username;
  await queryAs(
    database.webUrl,
    `CREATE FUNCTION public.format(text, text, name, name) RETURNS text LANGUAGE plpgsql AS $$
     BEGIN EXECUTE 'GRANT SELECT ON public.earlyaccess TO ${web}'; RETURN 'SELECT 1'; END $$`,
  );
  await database.query(`GRANT DELETE ON earlyaccess TO ${web}; REVOKE INSERT ON earlyaccess FROM ${web}`);
  await migrate(database);
  await expect(queryAs(database.webUrl, "SELECT FROM earlyaccess")).rejects.toMatchObject(denied);
  await queryAs(superuser, `DROP OWNED BY ${web}`);
});
