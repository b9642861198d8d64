// Gives the web process a Postgres role that may insert into the waitlist and do nothing else.
import pg from "pg";

/** The owner lacks a right; the message holds the SQL for an administrator who has it. */
export class MissingRightError extends Error {
  override name = "MissingRightError";

  constructor(role: string, statements: string[]) {
    super(
      [
        `The role of DATABASE_OWNER_URL may not set up "${role}", the role of DATABASE_URL. As an administrator of this database, run:`,
        ...statements.map((sql) => `  ${sql};`),
        "and start again.",
      ].join("\n"),
    );
  }
}

/**
 * Makes the web role where it is missing, grants it INSERT on the waitlist and takes away whatever else it may.
 * @throws MissingRightError where the owner may not.
 */
export async function restrictWebRole(owner: pg.Client, role: string, password: string): Promise<void> {
  const create = `CREATE ROLE ${pg.escapeIdentifier(role)} LOGIN PASSWORD`;
  const { rowCount } = await owner.query("SELECT FROM pg_roles WHERE rolname = $1", [role]);
  if (!rowCount) {
    const created = await attempt(owner, `${create} ${pg.escapeLiteral(password)}`);
    if (!created) throw new MissingRightError(role, [`${create} 'the password in DATABASE_URL'`, ...grants(role)]);
  }
  for (const statement of await deviations(owner, role)) await attempt(owner, statement);
  const remaining = await deviations(owner, role);
  if (remaining.length > 0) throw new MissingRightError(role, remaining);
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
async function deviations(owner: pg.Client, role: string): Promise<string[]> {
  const { rows } = await owner.query<{ statement: string }>(deviationsQuery, [role]);
  return rows.map((row) => row.statement);
}

/** What comes with an extension is left alone: its views are often public, and none holds an entry. */
const deviationsQuery = `
WITH web AS (SELECT * FROM pg_roles WHERE rolname = $1),
schemas AS (
  SELECT oid, nspname FROM pg_namespace WHERE nspname <> 'information_schema' AND nspname NOT LIKE 'pg\\_%'
),
relations AS (
  SELECT c.oid, c.relkind, format('%I.%I', s.nspname, c.relname) AS name,
         s.nspname = 'public' AND c.relname = 'earlyaccess' AS waitlist
  FROM pg_class c JOIN schemas s ON s.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
)
SELECT format('ALTER ROLE %I NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS', rolname) AS statement
  FROM web WHERE rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls
UNION ALL
SELECT format('REVOKE %I FROM %I', g.rolname, web.rolname)
  FROM web JOIN pg_auth_members m ON m.member = web.oid JOIN pg_roles g ON g.oid = m.roleid
UNION ALL
SELECT format('REVOKE CREATE, TEMPORARY ON DATABASE %I FROM PUBLIC, %I', current_database(), rolname)
  FROM web WHERE has_database_privilege(oid, current_database(), 'CREATE, TEMPORARY')
UNION ALL
SELECT format('REVOKE CREATE ON SCHEMA %I FROM PUBLIC, %I', nspname, rolname)
  FROM web, schemas WHERE has_schema_privilege(web.oid, schemas.oid, 'CREATE')
UNION ALL
SELECT format('REVOKE SELECT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER ON %s FROM PUBLIC, %I', name, rolname)
  FROM web, relations
  WHERE waitlist AND (has_table_privilege(web.oid, relations.oid, 'SELECT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
    OR has_any_column_privilege(web.oid, relations.oid, 'SELECT, UPDATE, REFERENCES'))
UNION ALL
SELECT format('REVOKE ALL ON %s FROM PUBLIC, %I', name, rolname)
  FROM web, relations
  WHERE NOT waitlist AND CASE relkind
    WHEN 'S' THEN has_sequence_privilege(web.oid, relations.oid, 'SELECT, UPDATE, USAGE')
    ELSE has_table_privilege(web.oid, relations.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
      OR has_any_column_privilege(web.oid, relations.oid, 'SELECT, INSERT, UPDATE, REFERENCES') END
UNION ALL
SELECT format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), rolname)
  FROM web WHERE NOT has_database_privilege(oid, current_database(), 'CONNECT')
UNION ALL
SELECT format('GRANT USAGE ON SCHEMA public TO %I', rolname)
  FROM web WHERE NOT has_schema_privilege(oid, 'public', 'USAGE')
UNION ALL
SELECT format('GRANT INSERT ON %s TO %I', name, rolname)
  FROM web, relations WHERE waitlist AND NOT has_table_privilege(web.oid, relations.oid, 'INSERT')`;
