// Creates Postgres roles, and gives each exactly its rights on the site's own objects.
import pg from "pg";
import { OperatorError } from "../../operator-messages.ts";
import { ownObjects } from "../own-objects.ts";
import type { Right } from "./rights.ts";
import type { Role, SiteRole } from "./site-roles.ts";

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

/** @throws MissingRightError if the schema is missing and the owner may not create it. */
export async function requireSchemaRight(owner: pg.Client, schema: string, aim: string): Promise<void> {
  const { rows } = await owner.query<{ statement: string }>(
    `SELECT format('GRANT CREATE ON DATABASE %I TO %I', current_database(), current_user) AS statement
     WHERE to_regnamespace($1) IS NULL AND NOT has_database_privilege(current_database(), 'CREATE')`,
    [schema],
  );
  if (rows[0]) throw new MissingRightError(aim, [rows[0].statement]);
}

/**
 * Creates the role if it is missing, grants it its rights, and revokes every other right on the site's own objects that
 * was granted to it by name. Changes no other object in the database.
 * @returns the statements that changed something, without the password.
 * @throws MissingRightError if the owner may not run one of them.
 */
export async function setUpRole(owner: pg.Client, role: SiteRole): Promise<string[]> {
  const done = await createRole(owner, role);
  let remaining = await rightChanges(owner, role.name, role.rights);
  if (remaining.length === 0) return done;
  // In one transaction: a running site never finds its INSERT revoked.
  await owner.query("BEGIN");
  // Twice: to revoke a right on a table also revokes that right on its columns.
  for (let round = 0; round < 2; round++) {
    for (const statement of remaining) {
      await owner.query("SAVEPOINT one");
      if (await attempt(owner, statement)) done.push(statement);
      else await owner.query("ROLLBACK TO one");
    }
    remaining = await rightChanges(owner, role.name, role.rights);
  }
  await owner.query("COMMIT");
  if (remaining.length > 0) throw new MissingRightError(`change the rights of "${role.name}"`, remaining);
  return done;
}

/** While a forgotten transaction is open, it holds the entries that it changed, and sign-ups of their addresses get 503. */
const limitTransactions = "SET idle_in_transaction_session_timeout = '30s'";

/**
 * Creates the role if it is missing.
 * @returns the statement, without the password; none if the role exists.
 * @throws MissingRightError if the owner may not.
 */
export async function createRole(owner: pg.Client, role: Role): Promise<string[]> {
  const { rows } = await owner.query<{ exists: boolean; may: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1) AS exists, rolcreaterole OR rolsuper AS may
     FROM pg_roles WHERE rolname = current_user`,
    [role.name],
  );
  if (rows[0]?.exists) return [];
  const name = pg.escapeIdentifier(role.name);
  const create = `CREATE ROLE ${name} LOGIN PASSWORD`;
  const limit = `ALTER ROLE ${name} ${limitTransactions}`;
  // Not tried: Postgres would write the statement that it refuses into its log, with the password.
  if (!rows[0]?.may) throw new MissingRightError(`create "${role.name}"`, [`${create} 'its password'`, limit]);
  await owner.query(`${create} ${pg.escapeLiteral(role.password)}; ${limit}`);
  return [`${create} …`, limit];
}

/** Returns false if the owner may not; the statement then remains among the changes. */
async function attempt(owner: pg.Client, statement: string): Promise<boolean> {
  try {
    await owner.query(statement);
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === "42501") return false;
    throw error;
  }
}

/**
 * Returns the statements that give the role exactly these rights on the site's own objects; none if it has them.
 * Does not cover objects that the role owns, or a superuser: see examine.ts.
 */
export async function rightChanges(client: pg.Client, role: string, rights: Right[]): Promise<string[]> {
  const { rows } = await client.query<{ statement: string }>(changesQuery, [
    role,
    JSON.stringify(rights.map(({ target, ...right }) => ({ ...right, subject: target }))),
  ]);
  return rows.map(({ statement }) => statement);
}

/**
 * Postgres lets PUBLIC execute new functions. The migrations revoke this, and a restore without privileges brings it back.
 * CASCADE also revokes what the role granted to others with a grant option. A grant that is not the owner's own
 * can be revoked only as the role that made it.
 */
const changesQuery = `
WITH role AS (SELECT * FROM pg_roles WHERE rolname = $1 AND NOT rolsuper), ${ownObjects},
wanted AS (
  SELECT o.oid, nspname, target, rolname, privilege AS privilege_type, coalesce(' (' || quote_ident("column") || ')', '') AS columns
  FROM role, jsonb_to_recordset($2) AS r (subject text, privilege text, "column" text)
    JOIN own_objects o ON subject IN (nspname || '.' || name, nspname || '.*')
  WHERE CASE privilege WHEN 'EXECUTE' THEN relkind = 'f' ELSE relkind IN ('r', 'p', 'v') END AND same_owner AND owner <> role.oid
),
granted AS (
  SELECT g.*, rolname, (g.oid, privilege_type, columns) IN (SELECT oid, privilege_type, columns FROM wanted) AS is_wanted
  FROM own_grants g JOIN role ON grantee = role.oid WHERE same_owner AND owner <> role.oid
),
excess AS (SELECT * FROM granted WHERE is_grantable OR NOT is_wanted),
missing AS (
  SELECT * FROM wanted
  WHERE (oid, privilege_type, columns) NOT IN (SELECT oid, privilege_type, columns FROM granted)
),
revokes AS (
  SELECT owner, grantor, format('REVOKE %s%s ON %s FROM %I CASCADE', CASE WHEN is_wanted THEN 'GRANT OPTION FOR ' END,
    string_agg(privilege_type || columns, ', ' ORDER BY privilege_type, columns), target, rolname) AS statement
  FROM excess GROUP BY catalog, oid, owner, grantor, is_wanted, target, rolname
)
SELECT CASE WHEN grantor = owner THEN statement
       ELSE format('SET ROLE %I; %s; RESET ROLE', pg_get_userbyid(grantor), statement) END AS statement FROM revokes
UNION ALL
SELECT format('REVOKE EXECUTE ON %s FROM PUBLIC', target) FROM own_objects o JOIN pg_proc p ON relkind = 'f' AND p.oid = o.oid
  WHERE same_owner AND prosecdef AND EXISTS (SELECT FROM aclexplode(coalesce(acl, acldefault('f', owner))) WHERE grantee = 0)
UNION ALL
SELECT format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), rolname)
  FROM role WHERE NOT has_database_privilege(oid, current_database(), 'CONNECT')
UNION ALL
SELECT DISTINCT format('GRANT USAGE ON SCHEMA %I TO %I', nspname, rolname)
  FROM role JOIN pg_namespace n ON nspname = 'public' OR nspname IN (SELECT nspname FROM wanted)
  WHERE NOT has_schema_privilege(role.oid, n.oid, 'USAGE')
UNION ALL
SELECT format('GRANT %s ON %s TO %I', string_agg(privilege_type || columns, ', ' ORDER BY privilege_type, columns), target, rolname)
  FROM missing GROUP BY oid, target, rolname`;
