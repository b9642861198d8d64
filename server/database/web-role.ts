// The web role: what a compromised web process could do with it beyond a sign-up, and what takes that away.
import type pg from "pg";

/** An SQL condition: the role `r` is a superuser or may act as the owner of the waitlist `w`, or of the coming one. */
export const isPrivileged =
  "r.rolsuper OR pg_has_role(r.oid, coalesce(w.relowner, to_regrole(quote_ident(current_user))), 'MEMBER')";
export const rolesAndWaitlist = "pg_roles r LEFT JOIN pg_class w ON w.oid = to_regclass('public.earlyaccess')";

/** The settings that every role may store for itself, and with which each of its sign-ups fails, or is lost in a crash. */
const ownSettings = `
  SELECT 'the setting ' || setting AS held, format('ALTER ROLE %I %sRESET %s', rolname,
    CASE WHEN setdatabase <> 0 THEN format('IN DATABASE %I ', current_database()) END, parameter) AS repair
  FROM pg_roles r JOIN pg_db_role_setting ON setrole = r.oid, unnest(setconfig) AS setting,
    split_part(setting, '=', 1) AS parameter
  WHERE rolname = $1 AND parameter IN ('synchronous_commit', 'default_transaction_read_only')
    AND setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))`;

/**
 * What the role $1 has beyond a sign-up, each with the statement that takes it away. A membership counts also without INHERIT: SET ROLE
 * needs none. The grants are read as they are: has_table_privilege fails for a privilege that its version of Postgres does not know.
 */
const excessRights = `
  WITH RECURSIVE acting (role, name, membership) AS (
    SELECT oid, quote_ident(rolname), NULL COLLATE "C" FROM pg_roles WHERE rolname = $1
    UNION ALL SELECT 0, 'PUBLIC', NULL
    UNION SELECT roleid, roleid::regrole::text, coalesce(membership, format('REVOKE %s FROM %s', roleid::regrole, name))
    FROM acting JOIN pg_auth_members ON member = role
  ),
  place AS (
    SELECT datdba, nspowner, nspacl, w.oid AS waitlist, coalesce(w.relowner::regrole::text, quote_ident(current_user)) AS owner
    FROM pg_namespace, pg_database LEFT JOIN pg_class w ON w.oid = to_regclass('public.earlyaccess')
    WHERE nspname = 'public' AND datname = current_database()
  ),
  excess (held, repair, membership) AS (
    SELECT privilege_type || ' on entries', format('REVOKE %s ON public.earlyaccess FROM %s', privilege_type, name), membership
    FROM (SELECT oid, relacl FROM pg_class UNION ALL SELECT attrelid, attacl FROM pg_attribute) AS object (id, acl)
      JOIN place ON id = waitlist, aclexplode(acl) JOIN acting ON role = grantee WHERE privilege_type <> 'INSERT'
    UNION ALL SELECT 'CREATE in the schema public',
      format('GRANT CREATE ON SCHEMA public TO %s; REVOKE CREATE ON SCHEMA public FROM %s', owner, name), membership
    FROM place, aclexplode(nspacl) JOIN acting ON role = grantee WHERE privilege_type = 'CREATE' AND grantee <> nspowner
    UNION ALL SELECT 'ownership of the schema public', format('ALTER SCHEMA public OWNER TO %s', owner), membership
    FROM place JOIN acting ON role = nspowner
    UNION ALL SELECT 'ownership of the database',
      format('ALTER DATABASE %I OWNER TO %s', current_database(), owner), membership FROM place JOIN acting ON role = datdba
    UNION ALL SELECT attribute, format('ALTER ROLE %s NO%s', name, attribute), membership
    FROM acting JOIN pg_roles ON oid = role, LATERAL (VALUES
      ('SUPERUSER', rolsuper), ('CREATEROLE', rolcreaterole), ('CREATEDB', rolcreatedb), ('REPLICATION', rolreplication),
      ('BYPASSRLS', rolbypassrls)) AS held (attribute, is_held) WHERE is_held
    UNION ALL SELECT 'the rights of ' || name, NULL, membership FROM acting WHERE starts_with(name, 'pg_')
    UNION ALL SELECT held, repair, NULL FROM (${ownSettings}) AS own
  )
  SELECT DISTINCT held, coalesce(membership, repair) AS repair FROM excess`;

/**
 * Examines the web role, as the owner. Returns whether it is a superuser or the owner, and a warning of what a compromised web
 * process could do; none if that could only sign up.
 */
export async function examineWebRole(owner: pg.Client, name: string) {
  const { rows } = await owner.query<{ privileged: boolean | null; excess: { held: string; repair: string }[] }>(
    `SELECT (SELECT ${isPrivileged} FROM ${rolesAndWaitlist} WHERE r.rolname = $1) AS privileged,
       (SELECT coalesce(json_agg(e ORDER BY held), '[]') FROM (${excessRights}) AS e) AS excess`,
    [name],
  );
  const { privileged = false, excess = [] } = rows[0] ?? {};
  const role = `The role of DATABASE_URL, "${name}",`;
  if (privileged) {
    const warning = `${role} is a superuser or the owner of the waitlist: a compromised web process could read and delete everything. Name a role of its own in DATABASE_URL, for example perennial_web, and the owner in DATABASE_OWNER_URL; migrating creates the role.`;
    return { isPrivileged: true, warning };
  }
  const held = [...new Set(excess.map((right) => right.held))].join(", ");
  const repairs = [...new Set(excess.map(({ repair }) => `\n  ${repair};`))].join("");
  const warning = `${role} has ${held}. No sign-up needs it, and a compromised web process could use it. As an administrator of this database, run:${repairs}`;
  return { isPrivileged: false, warning: excess.length > 0 ? warning : undefined };
}

/** Resets the settings with which the web role refuses or loses its own sign-ups. examineWebRole reports those that remain. */
export async function resetSettings(owner: pg.Client, name: string): Promise<void> {
  const { rows } = await owner.query<{ repair: string }>(ownSettings, [name]);
  // The owner may lack the right, and a compromised site may change its role at the same time.
  for (const { repair } of rows) await owner.query(repair).catch(() => undefined);
}
