// The roles on a real Postgres: what each may do, what migrating leaves to an administrator, and what it says of the web role.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { createEmptyDatabase, createWebRole, insertEntry, type TestDatabase } from "../../tests/support/database.ts";
import { queryAs, withClient } from "../../tests/support/postgres.ts";
import { until } from "../../tests/support/run.ts";
import { projectRoot } from "../config/project-root.ts";
import { webStatements } from "../models/waitlist.ts";
import { fieldColumns } from "./columns.ts";
import { migrate } from "./migrate.ts";
import { adminsGroup } from "./roles.ts";
import { workerTasks } from "../config/database-urls.ts";
import { examineWebRole } from "./web-role.ts";

const denied = { code: "42501" };

let database: TestDatabase;
let name: string;
let owner: string;
let web: string;
let admin: string;
let admins: string;

beforeEach(async () => {
  database = await createEmptyDatabase();
  name = database.name;
  [owner, web, admin, admins] = [`${name}_owner`, `${name}_web`, `${name}_admin`, adminsGroup(name)];
});

const asWeb = (sql: string) => queryAs(database.webUrl, sql);
const withAdmin = () => ({ ...database, adminUrl: database.adminRoleUrl });

/** Returns each right that is not its owner's, as "role: right on object (columns)". */
async function readGrants(): Promise<string[]> {
  const rows = await database.query(
    `WITH object AS (
       SELECT oid::regclass::text AS name, relnamespace AS schema, relacl AS acl, relowner AS owner, NULL AS column, 0 AS position FROM pg_class
       UNION ALL SELECT attrelid::regclass::text, relnamespace, attacl, relowner, attname::text, attnum FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
       UNION ALL SELECT oid::regprocedure::text, pronamespace, coalesce(proacl, acldefault('f', proowner)), proowner, NULL, 0 FROM pg_proc
       UNION ALL SELECT nspname, oid, nspacl, nspowner, NULL, 0 FROM pg_namespace
       UNION ALL SELECT 'the database', 'public'::regnamespace, datacl, datdba, NULL, 0 FROM pg_database WHERE datname = current_database())
     SELECT replace(coalesce(rolname, 'every role'), $1, '') || ': ' || privilege_type || ' ' || name
       || coalesce(' (' || string_agg(object.column, ', ' ORDER BY position) || ')', '') AS line
     FROM object, aclexplode(acl) AS held LEFT JOIN pg_roles ON pg_roles.oid = grantee
     WHERE grantee <> owner AND name <> 'public'
       AND schema IN (SELECT oid FROM pg_namespace WHERE nspname IN ('public', 'earlyaccess_kept', 'graphile_worker'))
     GROUP BY rolname, privilege_type, name ORDER BY line`,
    [`${name}_`],
  );
  return rows.map(({ line }) => line as string);
}

/** A field of the form that was added later is the last column of the table. */
const sortColumns = (right: string) =>
  right.replace(/\(.*\)$/, (list) => `(${list.slice(1, -1).split(", ").toSorted().join(", ")})`);

const webRights = [
  "EXECUTE earlyaccess_confirm(bytea)",
  "EXECUTE earlyaccess_count_views(date,text,integer)",
  "EXECUTE earlyaccess_leave(bytea)",
  `INSERT earlyaccess (id, ${fieldColumns.join(", ")}, suspected_spam, utm_source, utm_medium, utm_campaign, utm_term, utm_content, referrer_host, notice_id, token_hash)`,
  "INSERT earlyaccess_notices (id, text)",
];
const adminRights = [
  "DELETE earlyaccess",
  "SELECT earlyaccess",
  "SELECT earlyaccess_notices",
  "SELECT earlyaccess_status_changes",
  "UPDATE earlyaccess (status, invitation)",
];
/** The worker's rights for each task, besides those on the queue. */
const workerRights = {
  webhook: [
    "SELECT earlyaccess (id, company, created_at, utm_source, utm_medium, utm_campaign, utm_term, utm_content, referrer_host)",
  ],
  mail: [
    "DELETE earlyaccess_mail_passes",
    "EXECUTE earlyaccess_kept.erasure_of(text)",
    "INSERT earlyaccess_mail_passes",
    "SELECT earlyaccess (id, email, suspected_spam, status, mail_tokens, mailed_at, mail_refusal, confirmed_at)",
    "SELECT earlyaccess_kept.mailing_recipients",
    "SELECT earlyaccess_kept.mailings",
    "SELECT earlyaccess_mail_passes",
    "UPDATE earlyaccess (mail_tokens, mailed_at, mail_refusal)",
    "UPDATE earlyaccess_kept.mailing_recipients (outcome, tries, due_at, tried_at, reply, token_hash)",
    "UPDATE earlyaccess_kept.mailings (next_at, active_at, failing_since, reason)",
    "UPDATE earlyaccess_mail_passes",
    "USAGE earlyaccess_kept",
  ],
  purge: [
    "DELETE earlyaccess",
    "EXECUTE earlyaccess_kept.erase_again()",
    "EXECUTE earlyaccess_kept.keep_erased(uuid[])",
    "SELECT earlyaccess (id, created_at, imported)",
    "USAGE earlyaccess_kept",
  ],
};

it.each(workerTasks)("each role has the rights that it needs and no others, with a worker for %s", async (task) => {
  const worker = { url: database.workerUrl, tasks: [task] };
  await migrate({ ...withAdmin(), worker });
  const expected = { web: webRights, worker: [...workerRights[task], "USAGE graphile_worker"], [admins]: adminRights };
  const lines = Object.entries(expected).flatMap(([role, rights]) =>
    ["CONNECT the database", ...rights].map((right) => `${role}: ${right}`),
  );
  // Each worker needs the queue's tables, and Postgres gives two rights on a new database to every role.
  const usual =
    /^(?:worker: \w+ graphile_worker\.|every role: (?:\w+ graphile_worker\.|(?:CONNECT|TEMPORARY) the database$))/;
  const others = (await readGrants()).filter((line) => !usual.test(line));
  expect(others.map(sortColumns).toSorted()).toEqual(lines.map(sortColumns).toSorted());
  // A worker that could write the queue's migrations could stop every later migrating.
  const ofMigrations = (await readGrants()).filter((line) => /^worker: .* graphile_worker\.migrations$/.test(line));
  expect(ofMigrations).toEqual(["worker: SELECT graphile_worker.migrations"]);
  const limited = `SELECT replace(rolname, $1, '') AS role FROM pg_roles
      WHERE starts_with(rolname, $1) AND rolconfig = '{idle_in_transaction_session_timeout=30s}' ORDER BY role`;
  const roles = (await database.query(limited, [`${name}_`])).map(({ role }) => role);
  expect(roles).toEqual(["admin", "web", "worker"]);
  for (const url of [database.webUrl, database.workerUrl, database.adminRoleUrl]) {
    for (const column of ["key FROM earlyaccess_kept.keys", "hash FROM earlyaccess_kept.addresses"]) {
      await expect(queryAs(url, `SELECT ${column}`), `${column}, ${url}`).rejects.toMatchObject(denied);
    }
  }
  // A function with its owner's rights must not call one that another role has put into the search path.
  const ofSite = "pronamespace IN ('public'::regnamespace, 'earlyaccess_kept'::regnamespace)";
  const open = `SELECT proname FROM pg_proc WHERE prosecdef AND ${ofSite}
      AND (proconfig::text ~ 'search_path=pg_catalog') IS NOT TRUE`;
  expect(await database.query(open)).toEqual([]);
  // A connection keeps its first plan, which for an empty table reads all of it, also when the table has become large.
  const reading = `SELECT proname FROM pg_proc WHERE prosecdef AND ${ofSite} AND proname <> 'erase_again'
      AND prosrc ~ '\\mWHERE\\M'
      AND (proconfig::text ~ 'enable_seqscan=off') IS NOT TRUE`;
  expect(await database.query(reading)).toEqual([]);
});

/** The group passes nothing on by itself: its member must SET ROLE. A membership keeps what the attribute was when it was granted. */
const joinGroup = "CREATE ROLE group; ALTER ROLE web NOINHERIT; GRANT group TO web";

it.each([
  `${joinGroup}; GRANT UPDATE (email) ON earlyaccess TO group`,
  `${joinGroup}; GRANT SELECT (email) ON earlyaccess TO group`,
  "GRANT SELECT ON earlyaccess TO PUBLIC",
  `${joinGroup}; GRANT DELETE ON earlyaccess TO group`,
  "GRANT TRUNCATE ON earlyaccess TO web",
  "GRANT TRIGGER ON earlyaccess TO web",
  "GRANT CREATE ON SCHEMA public TO PUBLIC",
  "GRANT CREATE ON DATABASE database TO web",
  "ALTER DATABASE database OWNER TO web",
  "ALTER SCHEMA public OWNER TO web; REVOKE ALL ON SCHEMA public FROM web; GRANT USAGE ON SCHEMA public TO web",
  ...["CREATEROLE", "CREATEDB", "REPLICATION", "BYPASSRLS"].map((attribute) => `ALTER ROLE web ${attribute}`),
  `${joinGroup}; GRANT pg_execute_server_program TO group`,
  `${joinGroup}; ALTER ROLE group SUPERUSER`,
  `${joinGroup}; GRANT owner TO group`,
])("the web role is reported after: %s", async (sql) => {
  await database.asSuperuser(createWebRole(database)); // Its creator could not be granted to it.
  await migrate(database);
  expect(await examineWebRole(database.webUrl, true)).toBe("");
  await database.asSuperuser(
    sql.replaceAll(/\b(database|owner|web|group)\b/g, (word) => (word === "database" ? name : `${name}_${word}`)),
  );
  const examined = (isAllowed: boolean) => examineWebRole(database.webUrl, isAllowed);
  const isPrivileged = /SUPERUSER|GRANT owner/.test(sql);
  expect(await examined(true)).toContain(isPrivileged ? "is a superuser or the owner" : "may read or change");
  if (isPrivileged) await expect(examined(false)).rejects.toThrow("set ALLOW_PRIVILEGED_ROLE=true.");
  else expect(await examined(false)).toContain("may read or change");
});

it("the site's check of its role ends its transactions, which PgBouncer would otherwise call unclean", async () => {
  await migrate(database);
  const countEnds = async () => {
    const sql =
      "SELECT xact_commit::int AS commits, xact_rollback::int AS rollbacks FROM pg_stat_database WHERE datname = $1";
    const [ends] = await database.query(sql, [database.name]);
    return ends as { commits: number; rollbacks: number };
  };
  const before = await countEnds();
  for (let i = 0; i < 10; i++) await examineWebRole(database.webUrl, true, webStatements);
  // A connection reports its transactions when it ends.
  const ends = await until("Postgres counted them", async () => {
    const { commits, rollbacks } = await countEnds();
    return commits + rollbacks >= before.commits + before.rollbacks + 10 && { commits, rollbacks };
  });
  expect(ends).toMatchObject({ rollbacks: before.rollbacks });
});

it("a table takes no value that would end a backup, also from the web role or the worker", async () => {
  const worker = { url: database.workerUrl, tasks: [...workerTasks] };
  await migrate({ ...database, worker });
  await asWeb(insertEntry);
  const text = "repeat('x', 65537)";
  const notice = `INSERT INTO earlyaccess_notices (id, text) SELECT left(encode(sha256(text::bytea), 'hex'), 32), text FROM ${text} AS text`;
  const entry =
    "INSERT INTO earlyaccess (id, name, email, company, token_hash) VALUES (gen_random_uuid(), 'A', 'b@b.co', 'C'";
  const hash = "sha256('')";
  for (const sql of [notice, `${entry}, ${hash} || ${hash})`]) {
    await expect(asWeb(sql)).rejects.toMatchObject({ code: "23514" });
  }
  const asWorker = (sql: string) => queryAs(database.workerUrl, sql);
  const many = ["mail_tokens = ARRAY[decode(repeat('00', 109), 'hex')]", `mail_tokens = array_fill(${hash}, '{4}')`];
  for (const change of many) {
    await expect(asWorker(`UPDATE earlyaccess SET ${change}`)).rejects.toMatchObject({ code: "23514" });
  }
  await asWorker(`UPDATE earlyaccess SET mail_tokens = array_fill(${hash}, '{3}')`);
});

it("the web role finds no hash of an address in the plans that Postgres prints for it", async () => {
  await migrate(database);
  await asWeb(insertEntry);
  await database.query("UPDATE earlyaccess SET mail_tokens = ARRAY[sha256('')]");
  let plans = "";
  await withClient(database.webUrl, async (client) => {
    client.on("notice", ({ detail }) => (plans += detail));
    await client.query(
      "SET client_min_messages = log; SET debug_print_plan = on; SET debug_pretty_print = off; SELECT earlyaccess_leave(sha256(''))",
    );
  });
  const [left] = await database.query("SELECT hash FROM earlyaccess_kept.addresses");
  expect(plans).toContain("PLANNEDSTMT");
  expect(plans.replaceAll(/\s+/g, " ")).not.toContain(new Int8Array(left?.hash as Buffer).join(" "));
});

it("the web role can neither store views that stats cannot show, nor stop the count with too large a number", async () => {
  await migrate(database);
  const count = (values: string) => asWeb(`SELECT earlyaccess_count_views(${values})`);
  for (const values of ["'2026-01-31', 'x', 0", "'infinity', 'x', 1"]) {
    await expect(count(values)).rejects.toMatchObject({ code: "23514" });
  }
  for (let times = 0; times < 2; times++) await count("'2026-01-31', 'x', 2147483647");
  expect(await database.query("SELECT views FROM earlyaccess_views")).toEqual([{ views: 2147483647 }]);
});

it.each([true, false])(
  "an owner without rights gets all statements at once, without passwords, and nothing is changed; with a worker: %s",
  async (hasWorker) => {
    await database.asSuperuser(`ALTER ROLE ${owner} NOCREATEROLE; ALTER DATABASE ${name} OWNER TO postgres;
    REVOKE USAGE ON SCHEMA public FROM PUBLIC; GRANT CREATE, USAGE ON SCHEMA public TO ${owner}; REVOKE CONNECT ON DATABASE ${name} FROM PUBLIC; GRANT CONNECT ON DATABASE ${name} TO ${owner}`);
    const worker = { url: database.workerUrl, tasks: ["webhook" as const] };
    const urls = { ...withAdmin(), ...(hasWorker && { worker }) };
    const failure = (await migrate(urls).catch((error: unknown) => error)) as Error;
    expect(failure).toMatchObject({ name: "OperatorError" });
    expect(failure.message).not.toMatch(/it's a long secret|it''s|also a long|one more long/);
    expect(await database.query("SELECT FROM pg_tables WHERE schemaname = 'public'")).toEqual([]);
    for (const sql of failure.message.split("\n").filter((line) => line.endsWith(";"))) {
      await database.asSuperuser(sql.replace("its password", "it''s a long secret"));
    }
    await migrate(urls);
    await database.asSuperuser(`REVOKE CREATE ON DATABASE ${name} FROM ${owner}`);
    await migrate(urls);
    await asWeb(insertEntry);
  },
);

it("an owner runs no function that another role creates in public", async () => {
  await migrate(database);
  await database.asSuperuser(`GRANT CREATE ON SCHEMA public TO PUBLIC; CREATE ROLE ${web}_group`);
  // A closer match than Postgres' own function, for the arguments in roles.ts.
  await asWeb(`CREATE FUNCTION public.has_schema_privilege(regrole, text, text) RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN EXECUTE 'GRANT SELECT ON public.earlyaccess TO ${web}_group'; RETURN true; END $$`);
  await migrate(database);
  const [row] = await database.asSuperuser(
    `SELECT has_table_privilege('${web}_group', 'earlyaccess', 'SELECT') AS granted`,
  );
  expect(row).toEqual({ granted: false });
});

/** @param become a statement before each other one. */
async function expectAdminRights(url: string, become = ""): Promise<void> {
  await database.query(`TRUNCATE earlyaccess; ${insertEntry}`);
  for (const sql of ["UPDATE earlyaccess SET name = 'B'", "CREATE TABLE public.mine (x int)", "CREATE ROLE mine"]) {
    await expect(queryAs(url, `${become}; ${sql}`), sql).rejects.toMatchObject(denied);
  }
  await queryAs(url, `${become}; UPDATE earlyaccess SET status = 'invited', invitation = 'b' WHERE email = 'a@b.co'`);
  expect(await queryAs(url, "SELECT * FROM earlyaccess_notices")).toEqual([]);
  const latest = "SELECT changed_by, old_status, new_status FROM earlyaccess_status_changes ORDER BY id DESC LIMIT 1";
  const { username } = new URL(url);
  expect(await queryAs(url, latest)).toEqual([{ changed_by: username, old_status: "waiting", new_status: "invited" }]);
  expect(await queryAs(url, "DELETE FROM earlyaccess RETURNING email")).toEqual([{ email: "a@b.co" }]);
}

it("admins have personal logins, made with the SQL of docs/admins.md, until they are dropped, and gain nothing from their group", async () => {
  await migrate(withAdmin());
  const asGroup = `SET ROLE ${admins}`;
  await expectAdminRights(database.adminRoleUrl, asGroup);
  const as = (username: string, password: string) =>
    Object.assign(new URL(database.adminRoleUrl), { username, password }).href;
  await queryAs(database.adminRoleUrl, `${asGroup}; ALTER ROLE ${admins} PASSWORD 'a password'`);
  await expect(queryAs(as(admins, "a password"), "SELECT")).rejects.toMatchObject({ code: "28000" });
  const text = await readFile(join(projectRoot, "docs/admins.md"), "utf8");
  const [, sql = ""] = /^(CREATE ROLE ada LOGIN;\n.*\n.*\n)\\password ada\n/m.exec(text) ?? [];
  expect(sql).toContain(`GRANT ${adminsGroup("perennial")} TO ada;`);
  const login = `${name}_ada`;
  await database.query(sql.replaceAll(/\bada\b/g, login).replace("perennial_admins", admins));
  await database.query(`ALTER ROLE ${login} PASSWORD 'a password of ada'`);
  await expectAdminRights(as(login, "a password of ada"));
  await withClient(as(login, "a password of ada"), async (session) => {
    await database.query(`DROP ROLE ${login}`);
    await expect(session.query("SELECT FROM earlyaccess")).rejects.toMatchObject(denied);
  });
});

it("the roles lose what was granted to them or to every role, and get back what was revoked, by migrating", async () => {
  const urls = { ...withAdmin(), worker: { url: database.workerUrl, tasks: [...workerTasks] } };
  await migrate(urls);
  const granted = await readGrants();
  const roles = `${web}, ${admins}, ${name}_worker, PUBLIC`;
  await database.query(`REVOKE ALL ON ALL TABLES IN SCHEMA public, earlyaccess_kept, graphile_worker FROM ${roles};
    REVOKE ALL ON ALL FUNCTIONS IN SCHEMA public FROM ${roles};
    REVOKE ALL ON SCHEMA earlyaccess_kept, graphile_worker FROM ${roles};
    GRANT SELECT (email), UPDATE ON earlyaccess TO ${web};
    GRANT DELETE ON earlyaccess TO ${web} WITH GRANT OPTION;
    GRANT ALL ON ALL TABLES IN SCHEMA public, earlyaccess_kept TO ${roles}, ${admin};
    REVOKE ALL ON _prisma_migrations FROM ${roles}, ${admin};
    GRANT EXECUTE ON FUNCTION earlyaccess_leave(bytea) TO PUBLIC, ${name}_worker`);
  await asWeb(`GRANT DELETE ON earlyaccess TO ${name}_worker`);
  expect(await migrate(urls)).toEqual([]);
  expect(await readGrants()).toEqual(granted);
});
