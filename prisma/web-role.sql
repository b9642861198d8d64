-- What the role $1 has beyond a sign-up, each with the statement that takes it away: server/database/roles.ts.
-- A membership counts also without INHERIT: SET ROLE needs none. The grants are read as they are, because has_table_privilege fails
-- for a privilege that its version of Postgres does not know, such as MAINTAIN.

WITH RECURSIVE
-- The role, PUBLIC, and every role that it is a member of; with what ends the membership.
acting (role, name, membership) AS (
  SELECT oid, quote_ident(rolname), NULL COLLATE "C" FROM pg_roles WHERE rolname = $1
  UNION ALL SELECT 0, 'PUBLIC', NULL
  UNION SELECT roleid, roleid::regrole::text, coalesce(membership, format('REVOKE %s FROM %s', roleid::regrole, name))
  FROM acting JOIN pg_auth_members ON member = role
),
place AS (
  SELECT d.oid AS database, datdba, nspowner, nspacl, w.oid AS waitlist,
    coalesce(w.relowner::regrole::text, quote_ident(current_user)) AS owner
  FROM pg_namespace, pg_database d LEFT JOIN pg_class w ON w.oid = to_regclass('public.earlyaccess')
  WHERE nspname = 'public' AND datname = current_database()
),
excess (held, repair, membership, is_setting) AS (
  -- Grants. The owner keeps CREATE, which it may have through PUBLIC only.
  SELECT privilege_type || ' on ' || object,
    concat(CASE privilege_type WHEN 'CREATE' THEN format('GRANT CREATE ON SCHEMA public TO %s; ', owner) END,
      format('REVOKE %s ON %s FROM %s', privilege_type, object, name)), membership, false
  FROM place, LATERAL (
    SELECT 'public.earlyaccess', relacl FROM pg_class WHERE oid = waitlist
    UNION ALL SELECT 'public.earlyaccess', attacl FROM pg_attribute WHERE attrelid = waitlist
    UNION ALL SELECT 'SCHEMA public', nspacl) AS granted (object, acl), aclexplode(acl) JOIN acting ON role = grantee
  WHERE privilege_type NOT IN ('INSERT', 'USAGE')

  UNION ALL SELECT 'ownership of ' || object, format('ALTER %s OWNER TO %s', object, owner), membership, false
  FROM place, LATERAL (VALUES ('SCHEMA public', nspowner), (format('DATABASE %I', current_database()), datdba))
    AS owned (object, holder) JOIN acting ON role = holder

  UNION ALL SELECT attribute, format('ALTER ROLE %s NO%s', name, attribute), membership, false
  FROM acting JOIN pg_roles ON oid = role, LATERAL (VALUES ('SUPERUSER', rolsuper), ('CREATEROLE', rolcreaterole),
    ('CREATEDB', rolcreatedb), ('REPLICATION', rolreplication), ('BYPASSRLS', rolbypassrls)) AS has (attribute, it) WHERE it

  -- Postgres' own roles, which read files, run programs, read or write all data, or watch other sessions.
  UNION ALL SELECT 'the rights of ' || name, NULL, membership, false FROM acting WHERE starts_with(name, 'pg_')

  -- The settings that every role may store for itself, and with which each of its sign-ups fails, or is lost in a crash.
  UNION ALL SELECT 'the setting ' || setting, format('ALTER ROLE %s %sRESET %s', name,
    CASE setdatabase WHEN database THEN format('IN DATABASE %I ', current_database()) END, parameter), NULL, true
  FROM place, acting JOIN pg_db_role_setting ON setrole = role, unnest(setconfig) AS setting, split_part(setting, '=', 1) AS parameter
  WHERE membership IS NULL AND setdatabase IN (0, database)
    AND parameter IN ('synchronous_commit', 'default_transaction_read_only')
)
SELECT DISTINCT held, coalesce(membership, repair) AS repair, is_setting FROM excess ORDER BY held, repair;
