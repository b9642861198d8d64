// The roles: creates them, runs their files in prisma/roles, and examines what else the web role could do.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { signUpColumns } from "./columns.ts";
import { readRole } from "../config/database-urls.ts";
import { OperatorError } from "../errors.ts";
import { commit } from "./connect.ts";
import { projectRoot } from "../project-root.ts";
import type { DatabaseSettings, WorkerTask } from "./settings.ts";

const id = pg.escapeIdentifier;

/** What migrating needs from the owner, which may lack the right to do it. */
interface Step {
  /** An SQL condition. */
  isDone: string;
  sql: string;
  /** For the administrator, the SQL that creates a login without its password. */
  withoutPassword?: string;
}

/** Returns an SQL expression: null if the role does not exist. */
const roleOf = (name: string) => `to_regrole(quote_ident(${pg.escapeLiteral(name)}))`;

function createLogin({ name, password }: Role): Step {
  // A forgotten transaction holds the entries that it changed, and sign-ups of their addresses get 503.
  const create = (secret: string) => `CREATE ROLE ${id(name)} LOGIN PASSWORD ${secret};
ALTER ROLE ${id(name)} SET idle_in_transaction_session_timeout = '30s';`;
  const isDone = `${roleOf(name)} IS NOT NULL`;
  return { isDone, sql: create(pg.escapeLiteral(password)), withoutPassword: create("'its password'") };
}

/** Returns the steps in the order in which they can run. */
function listSteps({ web, studio, worker, owner, admins, database }: Roles, settings: DatabaseSettings): Step[] {
  const access = (name: string): Step => ({
    isDone: `has_database_privilege(${roleOf(name)}, current_database(), 'CONNECT')
      AND has_schema_privilege(${roleOf(name)}, 'public', 'USAGE')`,
    sql: `GRANT CONNECT ON DATABASE ${id(database)} TO ${id(name)};\nGRANT USAGE ON SCHEMA public TO ${id(name)};`,
  });
  const steps: Step[] = [];
  const add = (isDone: string, sql: string) => steps.push({ isDone, sql });
  // The table of migrations may belong to another application that uses Prisma.
  add(
    "coalesce(has_table_privilege(to_regclass('public._prisma_migrations'), 'INSERT'), true)",
    `GRANT SELECT, INSERT, UPDATE ON public._prisma_migrations TO ${id(owner)};`,
  );
  if (web) steps.push(createLogin(web), access(web.name));
  if (studio) {
    add(`${roleOf(admins)} IS NOT NULL`, `CREATE ROLE ${id(admins)} NOLOGIN;`);
    steps.push(createLogin(studio));
    const isMember = `pg_has_role(${roleOf(studio.name)}, ${roleOf(admins)}, 'MEMBER')`;
    add(isMember, `GRANT ${id(admins)} TO ${id(studio.name)};`);
    steps.push(access(admins));
  }
  if (settings.erasureKey) {
    add(
      "to_regnamespace('earlyaccess_erasures') IS NOT NULL",
      `CREATE SCHEMA earlyaccess_erasures AUTHORIZATION ${id(owner)};`,
    );
  }
  if (settings.worker) {
    add(
      "has_database_privilege(current_database(), 'CREATE') OR to_regnamespace('graphile_worker') IS NOT NULL",
      `GRANT CREATE ON DATABASE ${id(database)} TO ${id(owner)};`,
    );
  }
  if (worker) steps.push(createLogin(worker), access(worker.name));
  return steps;
}

/** Creates missing roles and schemas, and commits. @throws OperatorError with the SQL for an administrator if the owner lacks rights. */
export async function createRoles(owner: pg.Client, settings: DatabaseSettings): Promise<void> {
  const isTrue = async (sql: string) => (await owner.query(`SELECT (${sql}) AS value`)).rows[0].value === true;
  const roles = await readRoles(owner, settings);
  const { name } = readRole(settings.ownerUrl);
  const missing: string[] = [];
  for (const { isDone, sql, withoutPassword } of listSteps(roles, settings)) {
    if (await isTrue(isDone)) continue;
    if (withoutPassword && roles.login !== name) {
      const fault = `The user "${name}" of DATABASE_OWNER_URL logs in as "${roles.login}", so a pooler would not find a new role under its name.`;
      throw new OperatorError(`${fault} Migrate with URLs of Postgres itself. See docs/postgres.md, Poolers.`);
    }
    // Without the right, do not try: Postgres would log the refused statement with its password.
    if (roles.mayCreate || !withoutPassword) await tryTo(sql, owner);
    // Postgres only warns if the owner may not grant a right on another role's object.
    if (!(await isTrue(isDone))) missing.push(withoutPassword ?? sql);
  }
  await commit(owner);
  if (missing.length === 0) return;
  const lines = missing.join("\n").replaceAll(/^/gm, "  ");
  throw new OperatorError(
    `The role of DATABASE_OWNER_URL lacks rights. As an administrator of this database, run:\n${lines}\nand start again.`,
  );
}

/** Runs the statements, or changes nothing if the owner lacks a right. */
async function tryTo(sql: string, owner: pg.Client) {
  await owner.query(`SAVEPOINT step; ${sql}`).catch(async (error: { code?: string }) => {
    // insufficient_privilege; undefined_object, after a role that could not be created
    if (!["42501", "42704"].includes(error.code ?? "")) throw error;
    await owner.query("ROLLBACK TO step");
  });
}

/**
 * Grants each role its rights and revokes every other one on the site's own objects, in the caller's transaction: a running site
 * never finds its INSERT revoked. A role that is no longer configured keeps its rights: drop it.
 */
export async function grantRights(owner: pg.Client, settings: DatabaseSettings): Promise<void> {
  const { admins, web, studio, worker } = await readRoles(owner, settings);
  const does = (task: WorkerTask) => worker && settings.worker?.tasks.includes(task);
  // In the order in which they can be run.
  const files = {
    public: true,
    web,
    admins: studio,
    erasures: settings.erasureKey,
    worker,
    "worker-erasures": worker && settings.erasureKey,
    "worker-webhook": does("webhook"),
    // The settings require ERASURE_KEY for mails.
    "worker-mail": does("mail") && settings.erasureKey,
    "worker-purge": does("purge"),
    "worker-purge-erasures": does("purge") && settings.erasureKey,
  };
  const wanted = Object.entries(files).filter(([, isWanted]) => isWanted);
  const texts = wanted.map(([file]) => readFile(join(projectRoot, `prisma/roles/${file}.sql`), "utf8"));
  const values = { admins, web: web?.name, studio: studio?.name, worker: worker?.name, sign_up_columns: signUpColumns };
  await owner.query(fillIn((await Promise.all(texts)).join("\n"), values));
}

/** Replaces :"name" by an identifier, and :name by the text, as psql does. */
export function fillIn(sql: string, values: Record<string, string | undefined>): string {
  return sql.replaceAll(/:"(\w+)"|\B:(\w+)/g, (_, quoted?: string, plain = "") =>
    quoted ? id(values[quoted] ?? "") : (values[plain] ?? ""),
  );
}

type Role = ReturnType<typeof readRole>;
type Roles = Awaited<ReturnType<typeof readRoles>>;

/** Returns the roles of the settings without those that are superuser or owner, which have every right. */
async function readRoles(owner: pg.Client, { webUrl, adminUrl, worker }: DatabaseSettings) {
  const { rows } = await owner.query(
    `SELECT current_user AS owner, session_user AS login, current_database() AS database,
       (SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user) AS "mayCreate",
       ARRAY(SELECT r.rolname::text FROM ${rolesAndWaitlist} WHERE ${isPrivileged}) AS privileged`,
  );
  const found = rows[0] as { owner: string; login: string; database: string; mayCreate: boolean; privileged: string[] };
  const restricted = (url = "") => (url && !found.privileged.includes(readRole(url).name) ? readRole(url) : undefined);
  const roles = { web: restricted(webUrl), studio: restricted(adminUrl), worker: restricted(worker?.url) };
  return { ...found, ...roles, admins: adminsGroup(found.database) };
}

/** Names the group of the admins. Roles belong to all databases of a Postgres, and each waitlist has admins of its own. */
export function adminsGroup(database: string): string {
  return database === "perennial" ? "perennial_admins" : `perennial_admins_${database}`;
}

/** An SQL condition: the role `r` is a superuser or may act as the owner of the waitlist `w`, or of the coming one. */
const isPrivileged =
  "r.rolsuper OR pg_has_role(r.oid, coalesce(w.relowner, to_regrole(quote_ident(current_user))), 'MEMBER')";
const rolesAndWaitlist = "pg_roles r LEFT JOIN pg_class w ON w.oid = to_regclass('public.earlyaccess')";

/** Lists the rights and settings that no sign-up needs of the role, each with the statement that takes it away. */
async function listExcess(owner: pg.Client, name: string) {
  const query = await readFile(join(projectRoot, "prisma/web-role.sql"), "utf8");
  return (await owner.query<{ held: string; repair: string; is_setting: boolean }>(query, [name])).rows;
}

/** Returns whether the web role is a superuser or the owner, and a warning of what a compromised web process could do, or "". */
export async function examineWebRole(owner: pg.Client, name: string) {
  const query = `SELECT ${isPrivileged} AS privileged FROM ${rolesAndWaitlist} WHERE r.rolname = $1`;
  const { rows } = await owner.query<{ privileged: boolean }>(query, [name]);
  const role = `The role of DATABASE_URL, "${name}",`;
  if (rows[0]?.privileged) {
    const warning = `${role} is a superuser or the owner of the waitlist: a compromised web process could read and delete everything. Name a role of its own in DATABASE_URL, for example perennial_web, and the owner in DATABASE_OWNER_URL; migrating creates the role.`;
    return { isPrivileged: true, warning };
  }
  const excess = await listExcess(owner, name);
  if (excess.length === 0) return { isPrivileged: false, warning: "" };
  const held = [...new Set(excess.map((one) => one.held))].join(", ");
  const repairs = [...new Set(excess.map(({ repair }) => `\n  ${repair};`))].join("");
  const warning = `${role} has ${held}. No sign-up needs it, and a compromised web process could use it. As an administrator of this database, run:${repairs}`;
  return { isPrivileged: false, warning };
}

/** Resets the settings with which the web role refuses or loses its own sign-ups. examineWebRole reports those that remain. */
export async function resetSettings(owner: pg.Client, name: string): Promise<void> {
  for (const { repair, is_setting } of await listExcess(owner, name)) {
    // The owner may lack the right, and a compromised site may change its role at the same time.
    if (is_setting) await owner.query(`SAVEPOINT reset; ${repair}`).catch(() => owner.query("ROLLBACK TO reset"));
  }
}
