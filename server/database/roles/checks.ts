// Checks for ways in which a role could read or change the waitlist, each with its SQL for an administrator.
import { ownObjects } from "../own-objects.ts";
import type { Severity } from "./finding.ts";

interface Check {
  severity: Severity;
  /** Also for admins and the worker, which may read some of the list. */
  forEveryRole?: true;
  /** Follows 'The role of DATABASE_URL, "perennial_web", '. */
  text: (subjects: string) => string;
  /** Selects subject and statement, from the common table expressions below and those of the site's own objects. */
  query: string;
}

/** Roles that a member could use to read or change the waitlist. */
const powerfulRoles = `
SELECT oid, rolsuper OR oid IN (SELECT relowner FROM waitlist) AS privileged FROM pg_roles
WHERE rolsuper OR rolcreaterole OR rolreplication
   OR rolname IN ('pg_read_all_data', 'pg_write_all_data', 'pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')
   OR oid IN (SELECT relowner FROM waitlist UNION SELECT grantee FROM excess)`;

const membership = (privileged: boolean) => `
SELECT g.rolname, format('REVOKE %I FROM %I', g.rolname, role.rolname)
FROM role JOIN pg_auth_members ON member = role.oid JOIN pg_roles g ON g.oid = roleid
JOIN powerful ON pg_has_role(g.oid, powerful.oid, 'MEMBER')
GROUP BY g.rolname, role.rolname HAVING bool_or(privileged) = ${privileged}`;

export const checks: Check[] = [
  {
    severity: "privileged",
    forEveryRole: true,
    text: (roles) => `is a member of ${roles}: it can act as a superuser or as the waitlist's owner.`,
    query: membership(true),
  },
  {
    severity: "problem",
    forEveryRole: true,
    text: (roles) => `is a member of ${roles}, which could read or change the waitlist.`,
    query: membership(false),
  },
  {
    severity: "problem",
    forEveryRole: true,
    text: (attributes) => `has ${attributes}, and could give itself access to the waitlist.`,
    query: `
SELECT attribute, format('ALTER ROLE %I NO%s', rolname, attribute)
FROM role, LATERAL (VALUES ('CREATEROLE', rolcreaterole), ('REPLICATION', rolreplication)) AS a (attribute, enabled)
WHERE enabled`,
  },
  {
    severity: "problem",
    forEveryRole: true,
    text: (objects) => `owns ${objects}, and could change or drop it.`,
    query: `
SELECT target, format('ALTER %s OWNER TO %I', target, $2::text) FROM role, (
  SELECT owner, CASE WHEN target LIKE '% %' THEN target ELSE 'TABLE ' || target END AS target
    FROM own_objects WHERE relkind <> 'S'
  UNION ALL SELECT datdba, format('DATABASE %I', datname) FROM pg_database WHERE datname = current_database()
  UNION ALL SELECT nspowner, format('SCHEMA %I', nspname) FROM pg_namespace WHERE nspname = 'public'
) AS owned WHERE owner = role.oid`,
  },
  {
    severity: "problem",
    text: (rights) => `has, as every role of this database, ${rights}.`,
    query: `
SELECT format('%s%s on %s', privilege_type, columns, target),
       format('REVOKE %s%s ON %s FROM PUBLIC', privilege_type, columns, target)
FROM excess WHERE grantee = 0 AND relkind <> 'f'`,
  },
  {
    severity: "problem",
    text: (objects) => `could read or change the waitlist through ${objects}, which run with their owners' rights.`,
    query: `
SELECT target, format('REVOKE ALL ON %s FROM PUBLIC, %I', target, rolname) FROM role, readers
WHERE NOT pg_has_role(role.oid, owner, 'USAGE') AND has_schema_privilege(role.oid, schema, 'USAGE')
  AND CASE relkind WHEN 'f' THEN has_function_privilege(role.oid, readers.oid, 'EXECUTE')
      ELSE has_any_column_privilege(role.oid, readers.oid, 'SELECT, INSERT, UPDATE') END`,
  },
  {
    severity: "warning",
    text: (places) => `may create objects in ${places}, and so mislead other roles that name theirs without a schema.`,
    query: `
SELECT place, format('REVOKE CREATE ON %s FROM %s', place, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(rolname) END)
FROM role, (
  SELECT format('SCHEMA %I', nspname) AS place, nspowner AS owner, a.* FROM pg_namespace, aclexplode(nspacl) a WHERE nspname = 'public'
  UNION ALL SELECT format('DATABASE %I', datname), datdba, a.* FROM pg_database, aclexplode(datacl) a WHERE datname = current_database()
) AS grants WHERE privilege_type = 'CREATE' AND grantee IN (0, role.oid) AND grantee <> owner`,
  },
];

/**
 * Views over the waitlist, and SECURITY DEFINER functions whose source names it, except those made for the web role: all
 * run with their owner's rights.
 */
const readers = `
dependents AS (
  SELECT oid FROM own_objects WHERE name ~ '^earlyaccess' AND relkind <> 'f'
  UNION
  SELECT ev_class FROM dependents JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = dependents.oid
    JOIN pg_rewrite ON classid = 'pg_rewrite'::regclass AND pg_rewrite.oid = objid
),
readers AS (
  SELECT c.oid, relkind, relowner AS owner, relnamespace AS schema, format('%I.%I', nspname, relname) AS target
  FROM dependents JOIN pg_class c USING (oid) JOIN pg_namespace n ON n.oid = relnamespace
  WHERE relkind IN ('v', 'm') AND coalesce(reloptions::text, '') !~ 'security_invoker=(t|y|on|1)'
  UNION ALL
  SELECT p.oid, 'f', proowner, pronamespace, format('ROUTINE %I.%I(%s)', nspname, proname, pg_get_function_identity_arguments(p.oid))
  FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
  WHERE prosecdef AND pg_get_functiondef(p.oid) ~ 'earlyaccess' AND nspname || '.' || proname <> ALL ($3)
)`;

/**
 * Selects the index of a check, a subject and a statement. Parameters: the role (null skips the checks of its own
 * rights), the role to give objects to, and the tables and functions that the web role may insert into and execute.
 */
export const checksQuery = `
WITH RECURSIVE role AS (SELECT * FROM pg_roles WHERE rolname = $1), ${ownObjects},
excess AS (
  SELECT * FROM own_grants
  WHERE owner <> grantee AND NOT (nspname || '.' || name = ANY ($3) AND privilege_type IN ('INSERT', 'EXECUTE') AND NOT is_grantable)
),
powerful AS (${powerfulRoles}), ${readers}
${checks
  .map(
    ({ query }, index) => `SELECT ${index} AS index, subject, statement FROM (${query}) AS found (subject, statement)`,
  )
  .join("\nUNION ALL\n")}
ORDER BY index, subject`;
