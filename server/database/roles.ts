// The roles that the settings name: creates them, sets their rights, and examines what the site's role may do.
import pg from "pg";
import { readRole } from "../config/database-urls.ts";
import { OperatorError } from "../errors.ts";
import { begin, withConnection } from "./connect.ts";
import { erasuresSql, rightsSql } from "./rights.ts";
import type { DatabaseSettings } from "./settings.ts";

const id = pg.escapeIdentifier;

type Login = ReturnType<typeof readRole>;

/** What migrating needs, and an administrator may have to do. */
interface Step {
  /** An SQL condition. */
  isDone: string;
  sql: string;
  /** The password in `sql`. */
  secret?: string;
}

/** Returns an SQL expression: null if the role does not exist. */
const roleOf = (name: string) => `to_regrole(${pg.escapeLiteral(id(name))})`;

function createLogin({ name, password }: Login): Step {
  const secret = pg.escapeLiteral(password);
  // A forgotten transaction holds the entries that it changed, and sign-ups of their addresses get 503.
  const sql = `CREATE ROLE ${id(name)} LOGIN PASSWORD ${secret};
ALTER ROLE ${id(name)} SET idle_in_transaction_session_timeout = '30s';`;
  return { isDone: `${roleOf(name)} IS NOT NULL`, sql, secret };
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
  if (web) steps.push(createLogin(web), access(web.name));
  if (studio) {
    add(`${roleOf(admins)} IS NOT NULL`, `CREATE ROLE ${id(admins)} NOLOGIN;`);
    steps.push(createLogin(studio));
    const isMember = `pg_has_role(${roleOf(studio.name)}, ${roleOf(admins)}, 'MEMBER')`;
    add(isMember, `GRANT ${id(admins)} TO ${id(studio.name)};`);
    steps.push(access(admins));
  }
  if (settings.erasureKey) {
    const schema = `CREATE SCHEMA earlyaccess_erasures AUTHORIZATION ${id(owner)};`;
    add("to_regnamespace('earlyaccess_erasures') IS NOT NULL", schema);
  }
  if (settings.worker) {
    const mayCreateQueue = "has_database_privilege(current_database(), 'CREATE')";
    const grant = `GRANT CREATE ON DATABASE ${id(database)} TO ${id(owner)};`;
    add(`${mayCreateQueue} OR to_regnamespace('graphile_worker') IS NOT NULL`, grant);
  }
  if (worker) steps.push(createLogin(worker), access(worker.name));
  return steps;
}

/** Creates missing roles and schemas. @throws OperatorError with the SQL for an administrator if the owner lacks rights. */
export async function createRoles(owner: pg.Client, settings: DatabaseSettings): Promise<void> {
  const isTrue = async (sql: string) => (await owner.query(`SELECT (${sql}) AS value`)).rows[0].value === true;
  const roles = await readRoles(owner, settings);
  const missing: string[] = [];
  for (const { isDone, sql, secret } of listSteps(roles, settings)) {
    if (await isTrue(isDone)) continue;
    // Without the right, do not try: Postgres would log the refused statement with its password.
    if (roles.mayCreate || !secret) await tryTo(sql, owner);
    // Postgres only warns if the owner may not grant a right on another role's object.
    if (!(await isTrue(isDone))) missing.push(secret ? sql.replace(secret, "'its password'") : sql);
  }
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

/** Sets the rights of each role anew. A role that is no longer configured keeps its rights: drop it. */
export async function setRights(owner: pg.Client, settings: DatabaseSettings): Promise<void> {
  const roles = await readRoles(owner, settings);
  const keepsErasures = settings.erasureKey !== undefined;
  if (keepsErasures) await owner.query(erasuresSql);
  const { web, studio, worker } = roles;
  const [webId, studioId, workerId] = [web, studio, worker].map((role) => role && id(role.name));
  const names = { web: webId, studio: studioId, worker: workerId, admins: id(roles.admins) };
  await owner.query(rightsSql(names, settings.worker?.tasks ?? [], keepsErasures));
}

type Roles = Awaited<ReturnType<typeof readRoles>>;

/** Returns the roles of the settings without those that are superuser or owner, which have every right. */
async function readRoles(owner: pg.Client, { webUrl, adminUrl, worker }: DatabaseSettings) {
  const { rows } = await owner.query(
    `SELECT current_user AS owner, current_database() AS database,
       (SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user) AS "mayCreate",
       ARRAY(SELECT r.rolname::text FROM pg_roles r LEFT JOIN pg_class w ON w.oid = to_regclass('public.earlyaccess')
         WHERE pg_has_role(r.oid, coalesce(w.relowner, to_regrole(quote_ident(current_user))), 'MEMBER')) AS privileged`,
  );
  const found = rows[0] as { owner: string; database: string; mayCreate: boolean; privileged: string[] };
  const restricted = (url = "") => (url && !found.privileged.includes(readRole(url).name) ? readRole(url) : undefined);
  const roles = { web: restricted(webUrl), studio: restricted(adminUrl), worker: restricted(worker?.url) };
  return { ...found, ...roles, admins: adminsGroup(found.database) };
}

/** Names the group of the admins. Roles belong to all databases of a Postgres, and each waitlist has admins of its own. */
export function adminsGroup(database: string): string {
  return database === "perennial" ? "perennial_admins" : `perennial_admins_${database}`;
}

/** What the login may do, also as a role that it may become with SET ROLE. */
const webRoleQuery = `
SELECT session_user AS name, bool_or(r.rolsuper OR r.oid = w.relowner) AS "isPrivileged",
  bool_or(r.rolcreaterole OR r.rolcreatedb OR r.rolreplication OR r.rolbypassrls OR starts_with(r.rolname, 'pg_')
    OR has_any_column_privilege(r.oid, w.oid, 'SELECT, UPDATE') OR has_table_privilege(r.oid, w.oid, 'DELETE, TRUNCATE, TRIGGER')
    OR has_schema_privilege(r.oid, n.oid, 'CREATE') OR has_database_privilege(r.oid, d.oid, 'CREATE')
    OR r.oid IN (nspowner, datdba)) AS "mayChange"
FROM pg_roles r, pg_namespace n, pg_database d, pg_class w
WHERE pg_has_role(session_user, r.oid, 'MEMBER') AND w.oid = 'public.earlyaccess'::regclass AND nspname = 'public' AND datname = current_database()`;

export interface WebRole {
  isPrivileged: boolean;
  /** What a compromised web process could do, or "". */
  warning: string;
}

/** Asks Postgres over the site's own connection, because a pooler may log in another role than the URL names. @throws if it cannot, or without the table. */
export async function examineWebRole(webUrl: string): Promise<WebRole> {
  const ask = async (client: pg.Client) => {
    const { rows } = await client.query<{ name: string; isPrivileged: boolean; mayChange: boolean }>(webRoleQuery);
    await client.query("COMMIT");
    return rows[0]!;
  };
  const { name, isPrivileged, mayChange } = await withConnection(webUrl, ask, begin);
  if (isPrivileged) return describePrivileged(name);
  const warning = `The role of DATABASE_URL, "${name}", may read or change entries, or stop backups. Name a role in DATABASE_URL that does not exist yet, which migrating creates; if that one may, too, see docs/postgres.md, Roles.`;
  return { isPrivileged, warning: mayChange ? warning : "" };
}

export const describePrivileged = (name: string): WebRole => ({
  isPrivileged: true,
  warning: `The role of DATABASE_URL, "${name}", is a superuser or the owner of the waitlist: a compromised web process could read and delete everything. Name a role of its own in DATABASE_URL, for example perennial_web, and the owner in DATABASE_OWNER_URL; migrating creates the role.`,
});

/** Returns the warning. @throws OperatorError for a superuser or the owner, unless that is allowed. */
export function requireRestricted({ isPrivileged, warning }: WebRole, allowPrivilegedRole: boolean): string {
  if (!isPrivileged || allowPrivilegedRole) return warning;
  throw new OperatorError(`${warning}\nTo start all the same, set ALLOW_PRIVILEGED_ROLE=true.`);
}
