// Creates Postgres roles, and gives the web role exactly its rights on the site's own objects.
import pg from "pg";
import { OperatorError } from "../operator-error.ts";
import { insertOnlyTables, ownObjects } from "./own-objects.ts";

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
 * Creates the web role if it is missing, grants it INSERT on the insert-only tables, and revokes every other right on
 * the site's own objects that was granted to it by name. Changes no other object in the database.
 * @returns the statements that changed something, without the password.
 * @throws MissingRightError if the owner may not run one of them.
 */
export async function setWebRights(owner: pg.Client, role: Role): Promise<string[]> {
  const aim = `set up "${role.name}", the role of DATABASE_URL`;
  const done = await createRole(owner, role, aim, initialGrants(role.name));
  const statements = await webRightChanges(owner, role.name);
  if (statements.length === 0) return done;
  // In one transaction: a running site never finds its INSERT revoked.
  await owner.query("BEGIN");
  for (const statement of statements) {
    await owner.query("SAVEPOINT one");
    if (await attempt(owner, statement)) done.push(statement);
    else await owner.query("ROLLBACK TO one");
  }
  await owner.query("COMMIT");
  const remaining = await webRightChanges(owner, role.name);
  if (remaining.length > 0) throw new MissingRightError(aim, remaining);
  return done;
}

/**
 * Creates the role if it is missing.
 * @param andThen what an administrator who has to create the role runs as well.
 * @returns the statement, without the password; none if the role exists.
 */
export async function createRole(owner: pg.Client, role: Role, aim: string, andThen: string[] = []): Promise<string[]> {
  const { rowCount } = await owner.query("SELECT FROM pg_roles WHERE rolname = $1", [role.name]);
  if (rowCount) return [];
  const create = `CREATE ROLE ${pg.escapeIdentifier(role.name)} LOGIN PASSWORD`;
  if (await attempt(owner, `${create} ${pg.escapeLiteral(role.password)}`)) return [`${create} …`];
  throw new MissingRightError(aim, [`${create} 'the password in its URL'`, ...andThen]);
}

function initialGrants(role: string): string[] {
  const to = `TO ${pg.escapeIdentifier(role)}`;
  const inserts = insertOnlyTables.map((table) => `GRANT INSERT ON public.${table} ${to}`);
  return [`GRANT USAGE ON SCHEMA public ${to}`, ...inserts];
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
 * The statements that give the web role exactly its rights on the site's own objects; none if it has them.
 * Says nothing of objects that the web role owns, or of a superuser: see web-role-findings.ts.
 */
export async function webRightChanges(client: pg.Client, role: string): Promise<string[]> {
  const { rows } = await client.query<{ statement: string }>(changesQuery, [role, insertOnlyTables]);
  return rows.map(({ statement }) => statement);
}

/**
 * Postgres lets PUBLIC execute new functions. The migrations revoke this, and a restore without privileges brings it back.
 * CASCADE also revokes what the web role granted to others with a grant option. A grant that is not the owner's own
 * can be revoked only as the role that made it.
 */
const changesQuery = `
WITH web AS (SELECT * FROM pg_roles WHERE rolname = $1 AND NOT rolsuper), ${ownObjects},
tables AS (
  SELECT o.oid, target, rolname FROM own_objects o, web
  WHERE nspname = 'public' AND name = ANY ($2) AND relkind IN ('r', 'p') AND same_owner AND owner <> web.oid
),
excess AS (
  SELECT g.*, rolname, g.oid IN (SELECT oid FROM tables) AND privilege_type = 'INSERT' AS only_grant_option
  FROM own_grants g JOIN web ON grantee = web.oid
  WHERE same_owner AND owner <> web.oid
    AND (is_grantable OR privilege_type <> 'INSERT' OR g.oid NOT IN (SELECT oid FROM tables))
),
revokes AS (
  SELECT owner, grantor, format('REVOKE %s%s ON %s FROM %I CASCADE', CASE WHEN only_grant_option THEN 'GRANT OPTION FOR ' END,
    string_agg(privilege_type || columns, ', ' ORDER BY privilege_type, columns), target, rolname) AS statement
  FROM excess GROUP BY catalog, oid, owner, grantor, only_grant_option, target, rolname
)
SELECT CASE WHEN grantor = owner THEN statement
       ELSE format('SET ROLE %I; %s; RESET ROLE', pg_get_userbyid(grantor), statement) END AS statement FROM revokes
UNION ALL
SELECT format('REVOKE EXECUTE ON %s FROM PUBLIC', target) FROM own_objects o JOIN pg_proc p ON relkind = 'f' AND p.oid = o.oid AND prorettype = 'trigger'::regtype
  WHERE same_owner AND prosecdef AND EXISTS (SELECT FROM aclexplode(coalesce(acl, acldefault('f', owner))) WHERE grantee = 0)
UNION ALL
SELECT format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), rolname)
  FROM web WHERE NOT has_database_privilege(oid, current_database(), 'CONNECT')
UNION ALL
SELECT format('GRANT USAGE ON SCHEMA public TO %I', rolname)
  FROM web JOIN pg_namespace n ON nspname = 'public' WHERE NOT has_schema_privilege(web.oid, n.oid, 'USAGE')
UNION ALL
SELECT format('GRANT INSERT ON %s TO %I', target, rolname) FROM tables
  WHERE NOT EXISTS (SELECT FROM own_grants g JOIN web ON grantee = web.oid
                    WHERE g.oid = tables.oid AND columns = '' AND privilege_type = 'INSERT')`;
