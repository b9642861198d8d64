// The site's own database objects: the only ones that migrating may grant rights on or revoke rights from.

/**
 * Common table expressions about the site's own objects, each with its schema, its qualified name and its owner.
 * `same_owner` is true if the waitlist's owner or the current role owns the object. Another application may have a
 * `_prisma_migrations` or a `graphile_worker` of its own, so these and the erasures count only with `same_owner`.
 */
export const ownObjects = `
waitlist AS (
  SELECT oid, relowner FROM pg_class
  WHERE relname = 'earlyaccess' AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'public')
),
candidates AS (
  SELECT 'pg_class'::regclass AS catalog, c.oid, relkind, nspname, relname AS name, relowner AS owner, relacl AS acl,
         format('%s%I.%I', CASE relkind WHEN 'S' THEN 'SEQUENCE ' ELSE '' END, nspname, relname) AS target
  FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
  WHERE relkind IN ('r', 'p', 'v', 'm', 'S')
  UNION ALL
  SELECT 'pg_proc'::regclass, p.oid, 'f', nspname, proname, proowner, proacl,
         format('FUNCTION %I.%I(%s)', nspname, proname, pg_get_function_identity_arguments(p.oid))
  FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
  WHERE prokind = 'f' AND nspname = 'public'
),
own_objects AS (
  SELECT * FROM (
    SELECT *, owner IN (SELECT relowner FROM waitlist UNION SELECT oid FROM pg_roles WHERE rolname = current_user) AS same_owner
    FROM candidates
  ) AS c
  WHERE nspname = 'public' AND name ~ '^earlyaccess(_|$)'
     OR same_owner AND (nspname = 'public' AND name ~ '^_prisma_migrations(_|$)' OR nspname IN ('graphile_worker', 'earlyaccess_erasures'))
),
own_grants AS (
  SELECT o.*, '' AS columns, a.* FROM own_objects o, aclexplode(acl) a
  UNION ALL
  SELECT o.*, format(' (%I)', attname), a.*
  FROM own_objects o JOIN pg_attribute ON catalog = 'pg_class'::regclass AND attrelid = o.oid, aclexplode(attacl) a
)`;
