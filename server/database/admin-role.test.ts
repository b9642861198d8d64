// The rights of admins on a real Postgres, by the shared role and by personal logins.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createEmptyDatabase, superuserUrl, type TestDatabase } from "../../tests/support/database.ts";
import { queryAs, withClient } from "../../tests/support/query.ts";
import { addAdmin, listAdmins, removeAdmin } from "./admins.ts";
import { migrate } from "./migrate.ts";

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
  "SELECT * FROM earlyaccess_imports",
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
  await queryAs(url, "UPDATE earlyaccess SET status = 'invited' WHERE email = 'a@b.co'");
  const { username } = new URL(url);
  expect(await queryAs(url, "SELECT changed_by, old_status, new_status FROM earlyaccess_status_changes")).toEqual([
    { changed_by: username, old_status: "waiting", new_status: "invited" },
  ]);
  expect(await queryAs(url, "DELETE FROM earlyaccess RETURNING email, status")).toEqual([
    { email: "a@b.co", status: "invited" },
  ]);
}

describe("the admin role", () => {
  it("reads entries and traces, changes a status and deletes entries, and nothing else", async () => {
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

describe("a personal login", () => {
  const name = () => `${admin}_ada`;
  const asOwner = <T>(use: Parameters<typeof withClient<T>>[1]) => withClient(database.ownerUrl, use);

  it("has an admin's rights, and the trace names it", async () => {
    const url = new URL(database.adminRoleUrl);
    [url.username, url.password] = [name(), await asOwner((owner) => addAdmin(owner, admin, name()))];
    expect(await asOwner((owner) => listAdmins(owner, admin))).toEqual([name()]);
    await expectAdminRights(url.href);
    expect((await migrate(database)).findings).toEqual([]);
    await withClient(url.href, async (session) => {
      await asOwner((owner) => removeAdmin(owner, admin, name()));
      await expect(session.query("SELECT FROM earlyaccess")).rejects.toMatchObject(denied);
    });
    await expect(queryAs(url.href, "SELECT 1")).rejects.toMatchObject({ code: "28P01" });
    expect(await asOwner((owner) => listAdmins(owner, admin))).toEqual([]);
  });

  it("is reported if it could do more, and is not removed if something else may use it", async () => {
    await asOwner((owner) => addAdmin(owner, admin, name()));
    const superuser = superuserUrl("postgres");
    await queryAs(superuser, `GRANT pg_write_all_data TO ${name()}`);
    const { findings } = await migrate(database);
    expect(findings).toEqual([
      {
        severity: "problem",
        text: expect.stringMatching(/^The admin ".*_ada" is a member of pg_write_all_data, /),
        statements: [expect.any(String)],
      },
    ]);
    const removal = asOwner((owner) => removeAdmin(owner, admin, name()));
    await expect(removal).rejects.toThrow(/^".*_ada" is a member of other roles, /);
    await queryAs(superuser, findings[0]?.statements[0] ?? "");
    await asOwner((owner) => removeAdmin(owner, admin, name()));
  });

  it("has a name that needs no quotes", async () => {
    for (const bad of ["Ada", "pg_ada", "a-b", "", "a".repeat(64), 'a"; DROP TABLE earlyaccess; --']) {
      await expect(
        asOwner((owner) => addAdmin(owner, admin, bad)),
        bad,
      ).rejects.toThrow(/^An admin's name has/);
    }
  });

  it("cannot take the name of another role, nor remove one", async () => {
    const web = new URL(database.webUrl).username;
    await expect(asOwner((owner) => addAdmin(owner, admin, web))).rejects.toThrow("There is already a role");
    for (const other of [web, ownerRole, admin]) {
      const removal = asOwner((owner) => removeAdmin(owner, admin, other));
      await expect(removal).rejects.toThrow("is not an admin. There are no admins.");
    }
  });
});
