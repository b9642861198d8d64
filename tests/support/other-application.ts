// Another application in the same database, and a description of what there is not the site's.
import { queryAs } from "./query.ts";

/**
 * Creates the other application's roles, tables, functions, grants and owners, with the web role among them: what migrating must
 * not change. The other application owns the database; the site's owner may create tables and schemas.
 */
export async function createOtherApplication(
  superuserUrl: string,
  { name, owner, web }: { name: string; owner: string; web: string },
): Promise<void> {
  const database = new URL(superuserUrl).pathname.slice(1);
  await queryAs(
    superuserUrl,
    `CREATE ROLE ${name} LOGIN CREATEDB; CREATE ROLE ${name}_readers;
     CREATE ROLE ${web} LOGIN CREATEDB BYPASSRLS PASSWORD 'it''s a long secret';
     GRANT ${name}_readers TO ${web};
     ALTER DATABASE ${database} OWNER TO ${name}; GRANT CREATE ON DATABASE ${database} TO ${owner}, ${web};
     ALTER SCHEMA public OWNER TO ${name}; GRANT CREATE ON SCHEMA public TO PUBLIC, ${owner};
     ALTER DEFAULT PRIVILEGES FOR ROLE ${name} GRANT SELECT ON TABLES TO PUBLIC;
     SET ROLE ${name};
     CREATE SCHEMA shop; GRANT USAGE, CREATE ON SCHEMA shop TO PUBLIC;
     CREATE TABLE customers (id serial PRIMARY KEY, email text);
     CREATE TABLE earlyaccessories (id int); GRANT ALL ON earlyaccessories TO ${web};
     GRANT SELECT (email), UPDATE (email) ON customers TO ${web}, ${name}_readers WITH GRANT OPTION;
     CREATE VIEW addresses AS SELECT email FROM customers; GRANT ALL ON addresses TO PUBLIC;
     CREATE FUNCTION shop.total() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM public.customers';
     GRANT EXECUTE ON FUNCTION shop.total() TO ${web};
     RESET ROLE;
     GRANT SELECT ON pg_authid TO ${web}`,
  );
}

export async function dropOtherApplicationRoles(superuserUrl: string, name: string): Promise<void> {
  await queryAs(superuserUrl, `DROP ROLE IF EXISTS ${name}, ${name}_readers`);
}

/** The owner and the rights of every object that is not the site's, and the roles whose names begin with `prefix`. */
export async function describeOthers(superuserUrl: string, prefix: string): Promise<string[]> {
  const rows = await queryAs(superuserUrl, describeQuery, [prefix]);
  return rows.map(({ line }) => line as string);
}

const describeQuery = `
WITH schemas AS (SELECT * FROM pg_namespace WHERE nspname <> 'graphile_worker' AND nspname !~ '^pg_(toast|temp)'),
relations AS (
  SELECT c.* FROM pg_class c JOIN schemas n ON n.oid = relnamespace
  WHERE NOT (nspname = 'public' AND relname ~ '^(earlyaccess(_|$)|_prisma_migrations)')
),
described AS (
  SELECT 'database' AS kind, datname::text AS name, datdba AS owner, datacl AS acl FROM pg_database WHERE datname = current_database()
  UNION ALL SELECT 'schema', nspname, nspowner, nspacl FROM schemas
  UNION ALL SELECT 'relation', oid::regclass::text, relowner, relacl FROM relations
  UNION ALL SELECT 'column', attname, attrelid, attacl FROM pg_attribute JOIN relations ON attrelid = relations.oid WHERE attacl IS NOT NULL
  UNION ALL SELECT 'routine', p.oid::regprocedure::text, proowner, proacl FROM pg_proc p JOIN schemas s ON s.oid = pronamespace
    WHERE NOT (nspname = 'public' AND proname LIKE 'earlyaccess\\_%')
  UNION ALL SELECT 'default', defaclobjtype::text, defaclrole, defaclacl FROM pg_default_acl
  UNION ALL SELECT 'role', to_jsonb(r)::text, oid, NULL FROM pg_authid r WHERE starts_with(rolname, $1) AND rolname NOT LIKE '%\\_worker'
  UNION ALL SELECT 'member', member::regrole::text, roleid, NULL FROM pg_auth_members
    WHERE starts_with(roleid::regrole::text, $1) AND roleid::regrole::text NOT LIKE '%\\_worker'
)
SELECT concat_ws(' ', kind, name, owner, acl) AS line FROM described ORDER BY line`;
