// The role of the site: what it may do, and the wait for a database in which it may store sign-ups.
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Logger } from "pino";
import { databaseOf } from "../config/database-urls.ts";
import { errorFields, OperatorError } from "../errors.ts";
import { timeLimits } from "../config/time-limits.ts";
import { describeFault, withTransaction } from "./connect.ts";

/** What the login may do, also as a role that it may become with SET ROLE. */
const webRoleSql = `SELECT session_user AS name,
  bool_or(role.rolsuper OR role.oid = waitlist.relowner) AS "isPrivileged",
  bool_or(
    -- The list itself
    has_any_column_privilege(role.oid, waitlist.oid, 'SELECT, UPDATE')
    OR has_table_privilege(role.oid, waitlist.oid, 'DELETE, TRUNCATE, TRIGGER')
    -- Ways to these rights; the predefined roles are pg_read_all_data and the like
    OR role.rolcreaterole OR role.rolreplication OR role.rolbypassrls OR starts_with(role.rolname, 'pg_')
    OR role.oid IN (schema.nspowner, database.datdba)
    -- Objects that would stop a backup
    OR role.rolcreatedb OR has_schema_privilege(role.oid, schema.oid, 'CREATE')
    OR has_database_privilege(role.oid, database.oid, 'CREATE')
  ) AS "mayChange"
FROM pg_roles AS role
  JOIN pg_class AS waitlist ON waitlist.oid = 'public.earlyaccess'::regclass
  JOIN pg_namespace AS schema ON schema.nspname = 'public'
  JOIN pg_database AS database ON database.datname = current_database()
WHERE pg_has_role(session_user, role.oid, 'MEMBER')`;

export type Statement = string | pg.QueryConfig;

/**
 * Returns a warning of what a compromised web process could do, or "". Asks Postgres over the site's own connection, because a pooler may
 * log in another role than the URL names.
 * @param statements which the role must be able to run, too.
 * @throws OperatorError for a superuser or the owner, unless that is allowed; or the error of the connection or of a statement.
 */
export async function examineWebRole(
  webUrl: string,
  allowPrivilegedRole: boolean,
  statements: Statement[] = [],
): Promise<string> {
  const examine = async (client: pg.Client) => {
    const { rows } = await client.query(webRoleSql);
    for (const statement of statements) await client.query(statement);
    return rows[0] as { name: string; isPrivileged: boolean; mayChange: boolean };
  };
  // A Postgres that hangs must not end the wait below.
  const limits = { connectionTimeoutMillis: timeLimits.statement, query_timeout: timeLimits.statement };
  const { name, isPrivileged, mayChange } = await withTransaction(webUrl, examine, limits);
  if (isPrivileged) return warnOfPrivileged(name, allowPrivilegedRole);
  if (!mayChange) return "";
  return `The role of DATABASE_URL, "${name}", may read or change entries, or stop backups. Name a role in DATABASE_URL that does not exist yet, which migrating creates; if that one may, too, see docs/postgres.md, Roles.`;
}

/** Returns a warning of the role. @throws it as an OperatorError, unless the role is allowed. */
export function warnOfPrivileged(name: string, isAllowed: boolean): string {
  const warning = `The role of DATABASE_URL, "${name}", is a superuser or the owner of the waitlist: a compromised web process could read and delete everything. Name a role of its own in DATABASE_URL, for example perennial_web, and the owner in DATABASE_OWNER_URL; migrating creates the role.`;
  if (isAllowed) return warning;
  throw new OperatorError(`${warning}\nTo allow it all the same, set ALLOW_PRIVILEGED_ROLE=true.`);
}

/** In milliseconds, until the log repeats a reason. */
const repeatMs = 10 * 60_000;

/**
 * Examines the role again and again until it may store sign-ups, then calls `onAccepted`, once. The log says why it may not, and what to
 * do. Never rejects, because pages need no database.
 */
export async function awaitWebRole(
  webUrl: string,
  { allowPrivilegedRole, statements }: { allowPrivilegedRole: boolean; statements: Statement[] },
  log: Logger,
  signal: AbortSignal,
  onAccepted: () => void,
  retryMs = 5_000, // With the time limits of an attempt, the site recovers within 10 s.
): Promise<void> {
  const logged = new Map<string, number>();

  function logReason(cause: unknown) {
    const reason = describeFault(cause, webUrl);
    const now = performance.now();
    if (now - (logged.get(reason) ?? -Infinity) < repeatMs) return;
    logged.set(reason, now);
    const fields = { error: errorFields(cause), reason, database: databaseOf(webUrl) };
    log.warn(fields, "database not available; pages are served, sign-ups get 503");
  }

  while (!signal.aborted) {
    try {
      const warning = await examineWebRole(webUrl, allowPrivilegedRole, statements);
      if (warning) log.warn(warning);
      return onAccepted();
    } catch (error) {
      logReason(error);
    }
    // Rejects if the site stops.
    await sleep(retryMs, undefined, { signal }).catch(() => undefined);
  }
}
