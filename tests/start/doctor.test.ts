// The command waitlist doctor.
import { describe, expect, it } from "vitest";
import { addAdmin, removeAdmin } from "../../server/database/roles/admins.ts";
import { migrate } from "../../server/database/migrate.ts";
import { createTestDatabase, superuserUrl } from "../support/database.ts";
import { withClient } from "../support/query.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";
import { runWaitlist } from "../support/waitlist.ts";

const { database, waitlist } = createWaitlistFixture();

describe("doctor", () => {
  const verdicts = (stdout: string) =>
    Object.fromEntries(
      [...stdout.matchAll(/^(ok|warning|problem) +([^:]+):/gm)].map(([, verdict, what]) => [what, verdict]),
    );

  it("finds nothing where all is well", async () => {
    const { code, stdout, stderr } = await waitlist(["doctor"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(new Set(Object.values(verdicts(stdout)))).toEqual(new Set(["ok"]));
    expect(Object.keys(verdicts(stdout))).toEqual(
      expect.arrayContaining([
        "Configuration",
        "Postgres",
        "Migrations",
        "Objects",
        "Web role",
        "Clocks",
        "Durability",
      ]),
    );
  });

  it("finds a right too many, a commit that does not wait, https without a proxy, and Redis away", async () => {
    const role = decodeURIComponent(new URL(database.webUrl).username);
    await database.query(`GRANT SELECT ON earlyaccess TO ${role}`);
    await database.query(`ALTER ROLE ${role} SET synchronous_commit = off`);
    try {
      const changes = { PUBLIC_URL: "https://perennial.example", REDIS_URL: "redis://:hunter2@127.0.0.1:1" };
      const { code, stdout, stderr } = await waitlist(["doctor"], changes);
      expect([code, stderr]).toEqual([1, ""]);
      expect(verdicts(stdout)).toMatchObject({
        "Web role": "problem",
        synchronous_commit: "problem",
        "PUBLIC_URL and TRUST_PROXY": "warning",
        "Privacy page": "warning",
        Redis: "problem",
      });
      expect(stdout).not.toMatch(/hunter2|it's a long secret|it%27s/);
    } finally {
      await database.query(`REVOKE SELECT ON earlyaccess FROM ${role}`);
      await database.query(`ALTER ROLE ${role} RESET synchronous_commit`);
    }
  });

  it("names the settings that the privacy page of an https site lacks", async () => {
    const site = { PUBLIC_URL: "https://perennial.example", TRUST_PROXY: "1", CONTROLLER: "Perennial Inc." };
    expect((await waitlist(["doctor"], site)).stdout).toMatch(/^warning {2}Privacy page: .*: set CONTACT_EMAIL$/m);
    const complete = await waitlist(["doctor"], { ...site, CONTACT_EMAIL: "privacy@perennial.example" });
    expect(verdicts(complete.stdout)["Privacy page"]).toBe("ok");
  });

  it("finds a proxy without PUBLIC_URL", async () => {
    const { stdout } = await waitlist(["doctor"], { PORT: "0", TRUST_PROXY: "1" });
    expect(stdout).toMatch(/^warning {2}PUBLIC_URL and TRUST_PROXY: .* PUBLIC_URL is not set\. .*=https:\/\/\S+$/m);
    expect(stdout).not.toContain("localhost:0");
  });

  it("finds other ways to the list, with the SQL for an administrator", async () => {
    await database.query("GRANT SELECT ON earlyaccess TO PUBLIC");
    const { code, stdout } = await waitlist(["doctor"]);
    expect([code, verdicts(stdout)["Web role"]]).toEqual([1, "problem"]);
    expect(stdout).toMatch(/^ +REVOKE SELECT ON public\.earlyaccess FROM PUBLIC;$/m);
    await database.query("REVOKE SELECT ON earlyaccess FROM PUBLIC");
  });

  it("finds a role that may read the list, as some providers make them", async () => {
    const role = `${new URL(database.webUrl).username}_anon`;
    await database.query(`CREATE ROLE ${role}`);
    await database.query(`GRANT SELECT ON earlyaccess TO ${role}`);
    const { code, stdout } = await waitlist(["doctor"]);
    expect([code, verdicts(stdout).Readers]).toEqual([0, "warning"]);
    expect(stdout).toContain(`REVOKE ALL ON public.earlyaccess FROM "${role}";`);
    await database.query(`REVOKE ALL ON earlyaccess FROM ${role}`);
    await database.query(`DROP ROLE ${role}`);
  });

  it("finds that nothing was migrated, that a role is refused, and that the two connections are apart", async () => {
    const elsewhere = superuserUrl("postgres");
    const apart = await waitlist(["doctor"], { DATABASE_OWNER_URL: elsewhere });
    expect(apart.code).toBe(1);
    expect(verdicts(apart.stdout)).toMatchObject({ Migrations: "problem", "Both connections": "problem" });
    expect(verdicts(apart.stdout)).not.toHaveProperty("Web role"); // It has no table to have rights on.
    const wrong = Object.assign(new URL(database.webUrl), { password: "hunter2" }).href;
    const refused = await waitlist(["doctor"], { DATABASE_URL: wrong });
    expect(refused.code).toBe(1);
    expect(verdicts(refused.stdout)).toMatchObject({ DATABASE_URL: "problem", DATABASE_OWNER_URL: "ok" });
    expect(apart.stdout + refused.stdout).not.toMatch(new RegExp(`hunter2|${new URL(elsewhere).password}`));
  });

  it("finds notifications that are not queued, that are not sent, and that are not wanted any more", async () => {
    const wanted = { NOTIFY_WEBHOOK_URL: "http://127.0.0.1:1/hook", NOTIFY_DATABASE_URL: database.notifyUrl };
    const none = await waitlist(["doctor"], wanted);
    expect(none.code).toBe(1);
    expect(verdicts(none.stdout)).toMatchObject({ NOTIFY_DATABASE_URL: "problem", Notifications: "problem" });
    await migrate({ ...database, worker: { url: database.notifyUrl, tasks: ["announce"] } });
    const fine = await waitlist(["doctor"], wanted);
    expect([fine.code, fine.stderr]).toEqual([0, ""]);
    expect(verdicts(fine.stdout)).toMatchObject({ NOTIFY_DATABASE_URL: "ok", Notifications: "ok" });
    expect(verdicts((await waitlist(["doctor"])).stdout)).toMatchObject({ Notifications: "ok", Migrations: "ok" });
    await database.query("SELECT graphile_worker.add_job('announce', '{}')");
    await database.query(
      "UPDATE graphile_worker._private_jobs SET created_at = now() - interval '1 hour', last_error = 'The receiver answered 500'",
    );
    expect((await waitlist(["doctor"], wanted)).stdout).toMatch(
      /^warning {2}Notifications: 1 wait, the first for 3,6\d\d s\. The latest fault: The receiver answered 500\. Does the worker run\?/m,
    );
    await database.query("UPDATE graphile_worker._private_jobs SET attempts = max_attempts");
    expect((await waitlist(["doctor"], wanted)).stdout).toMatch(
      /^warning {2}Notifications: 1 were given up after 25 attempts/m,
    );
    await migrate({ ownerUrl: database.ownerUrl, webUrl: database.webUrl });
  });

  it("finds a dropped trigger, with SQL that creates it again", async () => {
    await database.query("DROP TRIGGER earlyaccess_status ON earlyaccess");
    const { code, stdout, stderr } = await waitlist(["doctor"]);
    expect([code, stderr]).toEqual([1, ""]);
    expect(verdicts(stdout)).toMatchObject({ Migrations: "ok", Objects: "problem" });
    expect(stdout.match(/^problem /gm)).toHaveLength(1);
    for (const [sql] of stdout.matchAll(/^ {11}[A-Z].*;$/gm)) await database.query(sql);
    expect(verdicts((await waitlist(["doctor"])).stdout)).toMatchObject({ Objects: "ok" });
  });

  it.each(["earlyaccess_imports", "earlyaccess"])("finds that the table %s is dropped", async (table) => {
    const damaged = await createTestDatabase();
    await damaged.query(`DROP TABLE ${table}`);
    const { code, stdout, stderr } = await runWaitlist(damaged, ["doctor"]);
    expect([code, stderr]).toEqual([1, ""]);
    expect(stdout).toContain(`problem  Objects: table public.${table} is missing.`);
    await damaged.drop();
  });

  it("names exchanged URLs, and prints no stack, also with a queue that the web role may not read", async () => {
    const exchanged = { DATABASE_URL: database.ownerUrl, DATABASE_OWNER_URL: database.webUrl };
    const { code, stdout, stderr } = await waitlist(["doctor"], exchanged);
    expect([code, stderr]).toEqual([1, ""]);
    expect(verdicts(stdout)).toMatchObject({ "Web role": "warning", Migrations: "problem" });
    expect(stdout).toContain("exchange the two URLs");
    const inProduction = await waitlist(["doctor"], { ...exchanged, NODE_ENV: "production" });
    expect(verdicts(inProduction.stdout)["Web role"]).toBe("problem");
  });

  it("says what is wrong with the configuration", async () => {
    const { code, stdout } = await waitlist(["doctor"], { PORT: "x", DATABASE_URL: "postgres://ada:hunter2@db" });
    expect([code, verdicts(stdout)]).toEqual([1, { Configuration: "problem" }]);
    expect(stdout).not.toContain("hunter2");
  });

  it("checks the rights of the admin role and of each personal login", async () => {
    const withAdmins = { ...database, adminUrl: database.adminRoleUrl };
    const admin = new URL(database.adminRoleUrl).username;
    const login = `ada_${admin}`;
    await migrate(withAdmins);
    await withClient(database.ownerUrl, (owner) => addAdmin(owner, login));
    const examine = async () => (await runWaitlist(withAdmins, ["doctor"])).stdout;
    expect(verdicts(await examine())).toMatchObject({ [`Role ${admin}`]: "ok", [`Role ${login}`]: "ok" });
    await database.query(`GRANT INSERT ON earlyaccess TO ${admin}; GRANT SELECT ON _prisma_migrations TO ${login}`);
    expect(await examine()).toMatch(
      new RegExp(`problem  Role ${admin}: [^]*REVOKE INSERT ON [^]*problem  Role ${login}: [^]*REVOKE SELECT ON`),
    );
    await withClient(database.ownerUrl, async (owner) => {
      await owner.query(`REVOKE SELECT ON _prisma_migrations FROM ${login}`);
      await removeAdmin(owner, login);
    });
    await migrate(withAdmins);
    expect(verdicts(await examine())).toMatchObject({ [`Role ${admin}`]: "ok" });
  });
});
