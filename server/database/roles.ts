// Makes Postgres roles, and leaves the web process with one that may insert into the waitlist and do nothing else.
import pg from "pg";
import { OperatorError } from "../operator-error.ts";

export interface Role {
  name: string;
  password: string;
}

export function readRole(url: string): Role {
  const { username, password } = new URL(url);
  return { name: decodeURIComponent(username), password: decodeURIComponent(password) };
}

/** The owner lacks a right; the message holds the SQL for an administrator who has it. */
export class MissingRightError extends OperatorError {
  override name = "MissingRightError";

  /** @param aim what the owner may not do. */
  constructor(aim: string, statements: string[]) {
    super(
      [
        `The role of DATABASE_OWNER_URL may not ${aim}. As an administrator of this database, run:`,
        ...statements.map((sql) => `  ${sql};`),
        "and start again.",
      ].join("\n"),
    );
  }
}

/**
 * Makes the web role where it is missing, grants it INSERT on the waitlist and takes away whatever else it may.
 * @returns the statements that changed something, without the password.
 * @throws MissingRightError where the owner may not.
 */
export async function restrictWebRole(owner: pg.Client, role: Role): Promise<string[]> {
  const aim = `set up "${role.name}", the role of DATABASE_URL`;
  const made = await createRole(owner, role, aim, grants(role.name));
  const statements = await deviations(owner, role.name);
  // In one transaction: a site that runs meanwhile never finds its INSERT revoked.
  await owner.query("BEGIN");
  for (const statement of statements) {
    await owner.query("SAVEPOINT one");
    if (await attempt(owner, statement)) made.push(statement);
    else await owner.query("ROLLBACK TO one");
  }
  await owner.query("COMMIT");
  const remaining = await deviations(owner, role.name);
  if (remaining.length > 0) throw new MissingRightError(aim, remaining);
  return made;
}

/**
 * @param andThen what an administrator who has to make the role runs as well.
 * @returns the statement, without the password; none where the role is there.
 */
export async function createRole(owner: pg.Client, role: Role, aim: string, andThen: string[] = []): Promise<string[]> {
  const { rowCount } = await owner.query("SELECT FROM pg_roles WHERE rolname = $1", [role.name]);
  if (rowCount) return [];
  const create = `CREATE ROLE ${pg.escapeIdentifier(role.name)} LOGIN PASSWORD`;
  if (await attempt(owner, `${create} ${pg.escapeLiteral(role.password)}`)) return [`${create} …`];
  throw new MissingRightError(aim, [`${create} 'the password in its URL'`, ...andThen]);
}

function grants(role: string): string[] {
  const to = `TO ${pg.escapeIdentifier(role)}`;
  return [`GRANT USAGE ON SCHEMA public ${to}`, `GRANT INSERT ON public.earlyaccess ${to}`];
}

/** False where the owner may not; what is then left undone shows in the next look at the deviations. */
async function attempt(owner: pg.Client, statement: string): Promise<boolean> {
  try {
    await owner.query(statement);
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === "42501") return false;
    throw error;
  }
}

/** The statements that lead from what the role may to exactly what it should; none where all is well. */
export async function deviations(owner: pg.Client, role: string): Promise<string[]> {
  const { rows } = await owner.query<{ statement: string }>(deviationsQuery, [role]);
  return rows.map((row) => row.statement);
}

/**
 * Looks at three things: what the role is and owns; what it is granted by name, anywhere in this database; and
 * what it may by any way (PUBLIC's rights too) outside Postgres' own schemas and extensions, whose views and
 * functions are public on purpose. MAINTAIN came with Postgres 17.
 */
const deviationsQuery = `
WITH web AS (SELECT * FROM pg_roles WHERE rolname = $1),
schemas AS (
  SELECT *, nspname <> 'information_schema' AND nspname NOT LIKE 'pg\\_%' AS ours FROM pg_namespace
),
relations AS (
  SELECT c.oid, c.relkind, c.relacl, c.relowner, s.ours, format('%I.%I', s.nspname, c.relname) AS name,
         s.nspname = 'public' AND c.relname = 'earlyaccess' AS waitlist
  FROM pg_class c JOIN schemas s ON s.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND NOT EXISTS (
    SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
),
functions AS (
  SELECT p.*, s.ours, format('%s %s', CASE prokind WHEN 'p' THEN 'PROCEDURE' ELSE 'FUNCTION' END, p.oid::regprocedure) AS name
  FROM pg_proc p JOIN schemas s ON s.oid = p.pronamespace
  WHERE p.prokind IN ('f', 'p') AND NOT EXISTS (
    SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
),
excess AS (
  SELECT name, waitlist FROM web, relations
  WHERE CASE relkind
    WHEN 'S' THEN ours AND has_sequence_privilege(web.oid, relations.oid, 'SELECT, UPDATE, USAGE')
    ELSE ours AND (
        has_table_privilege(web.oid, relations.oid, 'SELECT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
        OR has_any_column_privilege(web.oid, relations.oid, 'SELECT, UPDATE, REFERENCES')
        OR has_any_column_privilege(web.oid, relations.oid,
             CASE WHEN waitlist THEN 'INSERT WITH GRANT OPTION' ELSE 'INSERT' END)
        OR CASE WHEN current_setting('server_version_num')::int >= 170000
             THEN has_table_privilege(web.oid, relations.oid, 'MAINTAIN') ELSE false END)
      OR NOT ours AND EXISTS (SELECT FROM aclexplode(relacl) WHERE grantee = web.oid)
    END
)
SELECT format('ALTER ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS', rolname) AS statement
  FROM web WHERE rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls OR NOT rolcanlogin
UNION ALL
SELECT format('REVOKE %I FROM %I GRANTED BY %I', g.rolname, web.rolname, pg_get_userbyid(m.grantor))
  FROM web JOIN pg_auth_members m ON m.member = web.oid JOIN pg_roles g ON g.oid = m.roleid
UNION ALL
SELECT format('ALTER DATABASE %I OWNER TO %I', datname, current_user)
  FROM web JOIN pg_database ON datdba = web.oid AND datname = current_database()
UNION ALL
SELECT format('ALTER SCHEMA %I OWNER TO %I', nspname, current_user) FROM web JOIN schemas ON nspowner = web.oid
UNION ALL
SELECT format('ALTER TABLE %s OWNER TO %I', name, current_user) FROM web JOIN relations ON relowner = web.oid
UNION ALL
SELECT format('REVOKE CREATE, TEMPORARY ON DATABASE %I FROM PUBLIC, %I', current_database(), rolname)
  FROM web WHERE has_database_privilege(oid, current_database(), 'CREATE, TEMPORARY')
UNION ALL
SELECT format('REVOKE CREATE ON SCHEMA %I FROM PUBLIC, %I', nspname, rolname)
  FROM web, schemas WHERE has_schema_privilege(web.oid, schemas.oid, 'CREATE')
UNION ALL
SELECT format('REVOKE ALL ON %s FROM PUBLIC, %I', name, rolname) FROM web, excess
UNION ALL
SELECT format('REVOKE EXECUTE ON %s FROM PUBLIC, %I', name, rolname)
  FROM web, functions
  WHERE ours AND prosecdef AND has_function_privilege(web.oid, functions.oid, 'EXECUTE')
    OR NOT ours AND EXISTS (SELECT FROM aclexplode(proacl) WHERE grantee = web.oid)
UNION ALL
SELECT format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), rolname)
  FROM web WHERE NOT has_database_privilege(oid, current_database(), 'CONNECT')
UNION ALL
SELECT format('GRANT USAGE ON SCHEMA public TO %I', rolname)
  FROM web WHERE NOT has_schema_privilege(oid, 'public', 'USAGE')
UNION ALL
SELECT format('GRANT INSERT ON %s TO %I', name, rolname)
  FROM web, relations
  WHERE waitlist AND (NOT has_table_privilege(web.oid, relations.oid, 'INSERT')
    OR EXISTS (SELECT FROM excess WHERE excess.waitlist))`;
