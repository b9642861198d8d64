// The operator's commands that look and report, built and run: stats, doctor, and what backup says and does with pg_dump.
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import axe from "axe-core";
import { HtmlValidate } from "html-validate";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addAdmin, removeAdmin } from "../../server/database/admins.ts";
import { migrate } from "../../server/database/migrate.ts";
import { launchBrowser } from "../support/browser.ts";
import { createTestDatabase, superuserUrl, type TestDatabase } from "../support/database.ts";
import { withClient } from "../support/query.ts";
import { runWaitlist } from "../support/waitlist.ts";

let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), "perennial-reports-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
  await database.drop();
});

const waitlist = (args: string[], env?: Record<string, string>) => runWaitlist(database, args, env);

describe("stats", () => {
  const hostile = '\u001B[31m<script>alert("x")</script>&\u202E';

  beforeAll(async () => {
    await database.query(
      `INSERT INTO earlyaccess (id, name, email, company, created_at, utm_source, referrer_host, suspected_spam, status)
       SELECT gen_random_uuid(), 'Ada', 'ada' || i || '@example.com', 'E', '2026-01-01T23:30:00Z'::timestamptz + i * interval '1 hour',
              CASE WHEN i = 1 THEN $1 WHEN i < 4 THEN 'news' END, CASE WHEN i < 5 THEN 'blog.example' END, i = 2,
              CASE WHEN i = 6 THEN 'joined' ELSE 'waiting' END::earlyaccess_status
       FROM generate_series(0, 6) i`,
      [hostile],
    );
  });

  it("counts by status, day and source, and lets no source steer the terminal", async () => {
    const { code, stdout, stderr } = await waitlist(["stats"]);
    expect([code, stderr]).toEqual([0, ""]);
    const figuresOf = (text: string) =>
      text
        .split("\n")
        .map((line) => line.replaceAll("█", "").split(/ {2,}/).slice(0, 3).join("|").replace(/\|$/, "").trim());
    const unflagged = [
      "Status|sign-ups",
      "all|6",
      "waiting|5",
      "joined|1",
      "",
      "Day|sign-ups",
      "2026-01-01|1",
      "2026-01-02|5",
      "",
    ];
    const sources = [
      "Source|sign-ups",
      "direct|2",
      "news|2",
      '?[31m<script>alert("x")</script>&?|1',
      "blog.example|1",
      "",
    ];
    expect(figuresOf(stdout)).toEqual([...unflagged, ...sources, "Without 1 flagged; see --with-flagged.", ""]);
    const figures = figuresOf((await waitlist(["stats", "--with-flagged"])).stdout);
    const status = "Status|sign-ups|flagged all|7|1 waiting|6|1 joined|1|0 ".split(" ");
    const day = "Day|sign-ups|flagged 2026-01-01|1|0 2026-01-02|6|1 ".split(" ");
    const hostileFigure = '?[31m<script>alert("x")</script>&?|1|0';
    const source = ["Source|sign-ups|flagged", "news|3|1", "direct|2|0", hostileFigure, "blog.example|1|0", ""];
    expect(figures).toEqual([...status, ...day, ...source]);
    expect((await waitlist(["stats", "--since", "2026-01-02T04:00Z"])).stdout).toContain("\nall             2");
  });

  it("writes a page that is valid, accessible in light and dark, runs no script and asks nobody", async () => {
    const page = join(folder, "report.html");
    expect(await waitlist(["stats", "--html", page])).toEqual({ code: 0, stdout: `Wrote ${page}.\n`, stderr: "" });
    expect((await stat(page)).mode & 0o777).toBe(0o600);
    const html = await readFile(page, "utf8");
    const validator = new HtmlValidate({ extends: ["html-validate:standard"], rules: { "no-inline-style": "off" } });
    const report = await validator.validateString(html);
    expect(
      report.results.flatMap(({ messages }) => messages.map(({ ruleId, message }) => `${ruleId}: ${message}`)),
    ).toEqual([]);
    const browser = await launchBrowser();
    try {
      for (const colorScheme of ["light", "dark"] as const) {
        const shown = await browser.newPage({ colorScheme, bypassCSP: true });
        const requests: string[] = [];
        shown.on("request", (request) => requests.push(request.url()));
        shown.on("dialog", () => requests.push("a script ran"));
        await shown.goto(`file://${page}`);
        expect(requests).toEqual([`file://${page}`]);
        expect(await shown.getByRole("table").count()).toBe(3);
        expect(await shown.getByRole("img").count()).toBe(3);
        await shown.evaluate(axe.source);
        const violations = await shown.evaluate(async () => {
          const results = await (window as unknown as { axe: typeof axe }).axe.run();
          return results.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`);
        });
        expect(violations).toEqual([]);
        await shown.close();
      }
    } finally {
      await browser.close();
    }
  });
});

it("stats --html - writes the page to stdout", async () => {
  const { code, stdout, stderr } = await waitlist(["stats", "--html", "-"]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^<!doctype html>\n<html lang="en">.*<\/html>\n$/s);
});

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
        Redis: "problem",
      });
      expect(stdout).not.toMatch(/hunter2|it's a long secret|it%27s/);
    } finally {
      await database.query(`REVOKE SELECT ON earlyaccess FROM ${role}`);
      await database.query(`ALTER ROLE ${role} RESET synchronous_commit`);
    }
  });

  it("finds a misspelt variable, of which the other commands warn on stderr", async () => {
    const misspelt = { LOGLEVEL: "hunter2" };
    const warning = "LOGLEVEL is set but has no effect. Did you mean LOG_LEVEL?";
    const { code, stdout, stderr } = await waitlist(["doctor"], misspelt);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(`warning  Configuration: ${warning}\n`);
    expect(await waitlist(["stats"], misspelt)).toMatchObject({ code: 0, stderr: `Warning: ${warning}\n` });
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

  it("finds notices that nobody puts into the outbox, that nobody sends, and that nobody wants any more", async () => {
    const wanted = { NOTIFY_WEBHOOK_URL: "http://127.0.0.1:1/hook", NOTIFY_DATABASE_URL: database.notifyUrl };
    const none = await waitlist(["doctor"], wanted);
    expect(none.code).toBe(1);
    expect(verdicts(none.stdout)).toMatchObject({ NOTIFY_DATABASE_URL: "problem", Notices: "problem" });
    await migrate({ ...database, senderUrl: database.notifyUrl });
    const fine = await waitlist(["doctor"], wanted);
    expect([fine.code, fine.stderr]).toEqual([0, ""]);
    expect(verdicts(fine.stdout)).toMatchObject({ NOTIFY_DATABASE_URL: "ok", Notices: "ok" });
    expect(verdicts((await waitlist(["doctor"])).stdout)).toMatchObject({ Notices: "ok", Migrations: "ok" });
    await database.query("SELECT graphile_worker.add_job('announce', '{}')");
    await database.query(
      "UPDATE graphile_worker._private_jobs SET created_at = now() - interval '1 hour', last_error = 'The receiver answered 500'",
    );
    expect((await waitlist(["doctor"], wanted)).stdout).toMatch(
      /^warning {2}Notices: 1 wait, the first for 3,6\d\d s\. The latest fault: The receiver answered 500\. Does the sender run\?/m,
    );
    await database.query("UPDATE graphile_worker._private_jobs SET attempts = max_attempts");
    expect((await waitlist(["doctor"], wanted)).stdout).toMatch(
      /^warning {2}Notices: 1 were given up after 25 attempts/m,
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
    await database.query(`GRANT INSERT ON earlyaccess TO ${admin}; GRANT SELECT ON earlyaccess_imports TO ${login}`);
    expect(await examine()).toMatch(
      new RegExp(`problem  Role ${admin}: [^]*REVOKE INSERT ON [^]*problem  Role ${login}: [^]*REVOKE SELECT ON`),
    );
    await withClient(database.ownerUrl, async (owner) => {
      await owner.query(`REVOKE SELECT ON earlyaccess_imports FROM ${login}`);
      await removeAdmin(owner, login);
    });
    await migrate(withAdmins);
    expect(verdicts(await examine())).toMatchObject({ [`Role ${admin}`]: "ok" });
  });
});

describe("backup", () => {
  /** A pg_dump that says which version it is, and writes down what it was given. */
  async function install(version: string, code = 0): Promise<string> {
    const script = `#!/bin/sh
if [ "$1" = --version ]; then echo "pg_dump (PostgreSQL) ${version}"; exit; fi
{ echo "$@"; env; } > "${folder}/given"
for argument; do case $argument in --file=*) echo data > "\${argument#--file=}";; esac; done
echo "it did not work" >&2
exit ${code}
`;
    await writeFile(join(folder, "pg_dump"), script);
    await chmod(join(folder, "pg_dump"), 0o755);
    return `${folder}:${process.env.PATH}`;
  }

  it("gives pg_dump the password where no list of processes shows it, and keeps the file private", async () => {
    const backup = join(folder, "list.dump");
    const { code, stdout } = await waitlist(["backup", backup], { PATH: await install("99.1") });
    expect([code, stdout]).toEqual([0, `Wrote ${backup}: 5 bytes.\n`]);
    expect((await stat(backup)).mode & 0o777).toBe(0o600);
    const [argv = "", ...environment] = (await readFile(join(folder, "given"), "utf8")).split("\n");
    const password = new URL(database.ownerUrl).password;
    expect(argv).toContain("--format=custom");
    expect(argv).not.toContain(password);
    expect(environment).toContain(`PGPASSWORD=${password}`);
    expect(environment.filter((line) => line.startsWith("DATABASE_"))).toEqual([]);
  });

  it("leaves no file where pg_dump fails, and says why", async () => {
    const backup = join(folder, "failed.dump");
    const { code, stderr } = await waitlist(["backup", backup], { PATH: await install("99.1", 1) });
    expect([code, stderr]).toEqual([1, `${folder}/pg_dump failed:\nit did not work\n`]);
    await expect(stat(backup)).rejects.toThrow("ENOENT");
  });

  /** A pg_restore that finds these in the backup, and says so where it is asked to restore them. */
  async function installRestore(...contents: string[]): Promise<string> {
    const list = contents.map((line, i) => `echo "${i}; 1259 16385 ${line} owner"`).join("\n");
    const script = `#!/bin/sh
case $1 in
--version) echo "pg_restore (PostgreSQL) 99.1";;
--list) ${list};;
*) touch "${folder}/restored";;
esac
`;
    await writeFile(join(folder, "pg_restore"), script, { mode: 0o755 });
    return `${folder}:${process.env.PATH}`;
  }

  it.each([
    [[], ["TABLE public earlyaccess"], /^The database holds \d+ entries\. With --replace they are removed/],
    [["--replace"], ["TABLE public shop"], /^The file is no backup of a waitlist\.\n$/],
    [
      ["--replace"],
      ["TABLE public earlyaccess", "TABLE public _prisma_migrations", "TYPE public earlyaccess_status"],
      /^The database has what the backup has not, .*: table earlyaccess_imports, table earlyaccess_status_changes, table left_over(, function \w+)+\. Restore into a new, empty database\.\n$/,
    ],
  ])("restores nothing with %j where the backup holds %j", async (options, contents, message) => {
    await database.query(
      `CREATE TABLE left_over AS SELECT 1 AS one;
       INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'Zoe', 'zoe@example.com', 'E')`,
    );
    try {
      const before = await database.query("SELECT * FROM earlyaccess ORDER BY id");
      const path = await installRestore(...contents);
      const { code, stdout, stderr } = await waitlist(["restore", join(folder, "pg_restore"), ...options], {
        PATH: path,
      });
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toMatch(message);
      await expect(stat(join(folder, "restored"))).rejects.toThrow("ENOENT");
      expect(await database.query("SELECT * FROM earlyaccess ORDER BY id")).toEqual(before);
      expect(await database.query("SELECT * FROM left_over")).toEqual([{ one: 1 }]);
    } finally {
      await database.query("DROP TABLE left_over; DELETE FROM earlyaccess WHERE name = 'Zoe'");
    }
  });
});
