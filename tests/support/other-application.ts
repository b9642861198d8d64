// Another application in the same database, and a description of everything there that is not the site's.
import { queryAs } from "./query.ts";

/**
 * Creates the other application's roles, tables, views, functions, grants and owners, with the web role among them: what
 * migrating must not change. The other application owns the database; the site's owner may create tables and schemas.
 */
export async function createOtherApplication(
  superuserUrl: string,
  { name, owner, web }: { name: string; owner: string; web: string },
): Promise<void> {
  const database = new URL(superuserUrl).pathname.slice(1);
  await queryAs(
    superuserUrl,
    `CREATE ROLE ${name} LOGIN CREATEDB; CREATE ROLE ${name}_readers; CREATE ROLE ${name}_app LOGIN;
     CREATE ROLE ${web} LOGIN CREATEDB BYPASSRLS PASSWORD 'it''s a long secret';
     GRANT ${name}_readers TO ${name}_app, ${web};
     ALTER DATABASE ${database} OWNER TO ${name}; GRANT CREATE ON DATABASE ${database} TO ${owner}, ${web};
     ALTER SCHEMA public OWNER TO ${name}; GRANT CREATE ON SCHEMA public TO PUBLIC, ${owner};
     ALTER DEFAULT PRIVILEGES FOR ROLE ${name} GRANT SELECT ON TABLES TO PUBLIC;
     SET ROLE ${name};
     CREATE SCHEMA shop; GRANT USAGE, CREATE ON SCHEMA shop TO PUBLIC;
     CREATE TYPE mood AS ENUM ('good', 'bad');
     CREATE TABLE customers (id serial PRIMARY KEY, email text, mood mood);
     CREATE TABLE earlyaccessories (id int); GRANT ALL ON earlyaccessories TO ${web};
     CREATE TABLE shop.orders (id int, customer int) PARTITION BY RANGE (id);
     CREATE TABLE shop.orders_1 PARTITION OF shop.orders FOR VALUES FROM (1) TO (10);
     ALTER TABLE customers ENABLE ROW LEVEL SECURITY; CREATE POLICY everybody ON customers USING (true);
     GRANT SELECT (email), UPDATE (mood) ON customers TO ${web}, ${name}_readers WITH GRANT OPTION;
     GRANT INSERT, DELETE ON shop.orders TO PUBLIC;
     GRANT USAGE, UPDATE ON SEQUENCE customers_id_seq TO PUBLIC, ${web};
     CREATE VIEW addresses AS SELECT email FROM customers; GRANT ALL ON addresses TO PUBLIC;
     CREATE MATERIALIZED VIEW shop.totals AS SELECT count(*) FROM customers;
     CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN RETURN NEW; END';
     CREATE FUNCTION shop.total() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM public.customers';
     CREATE PROCEDURE shop.settle() LANGUAGE sql SECURITY DEFINER AS 'DELETE FROM shop.orders';
     GRANT EXECUTE ON FUNCTION shop.total() TO ${web};
     CREATE TRIGGER touched BEFORE UPDATE ON customers FOR EACH ROW EXECUTE FUNCTION touch();
     RESET ROLE;
     CREATE SCHEMA ${web}; CREATE TABLE ${web}.notes (x int);
     ALTER SCHEMA ${web} OWNER TO ${web}; ALTER TABLE ${web}.notes OWNER TO ${web};
     GRANT SELECT ON pg_authid TO ${web}; GRANT EXECUTE ON FUNCTION pg_read_file(text) TO ${web}`,
  );
}

export async function dropOtherApplicationRoles(superuserUrl: string, name: string): Promise<void> {
  await queryAs(superuserUrl, `DROP ROLE IF EXISTS ${name}, ${name}_readers, ${name}_app`);
}

/** Every object, owner and grant that is not the site's, and the roles whose names begin with `prefix`. */
export async function describeOthers(superuserUrl: string, prefix: string): Promise<string[]> {
  const rows = await queryAs(superuserUrl, describeQuery, [prefix]);
  return rows.map(({ line }) => line as string);
}

const describeQuery = `
WITH schemas AS (
  SELECT * FROM pg_namespace WHERE nspname NOT IN ('graphile_worker', 'pg_toast') AND nspname NOT LIKE 'pg\\_temp%'
),
relations AS (
  SELECT c.*, nspname FROM pg_class c JOIN schemas n ON n.oid = relnamespace
  WHERE NOT (nspname = 'public' AND relname ~ '^(earlyaccess(_|$)|_prisma_migrations)')
),
described AS (
  SELECT 'schema' AS kind, nspname::text AS name, to_jsonb(s) - 'oid' AS state FROM schemas s
  UNION ALL SELECT 'relation', nspname || '.' || relname, to_jsonb(relations)
    - '{relpages,reltuples,relallvisible,relallfrozen,relfrozenxid,relminmxid,relfilenode,relhasindex}'::text[] FROM relations
  UNION ALL SELECT 'column', relations.oid::regclass || '.' || attname, to_jsonb(attacl) FROM pg_attribute JOIN relations ON attrelid = relations.oid
    WHERE attacl IS NOT NULL
  UNION ALL SELECT 'routine', p.oid::regprocedure::text, to_jsonb(p) FROM pg_proc p JOIN schemas s ON s.oid = pronamespace
    WHERE NOT (nspname = 'public' AND proname LIKE 'earlyaccess\\_%')
  UNION ALL SELECT 'type', t.oid::regtype::text, to_jsonb(t) FROM pg_type t JOIN schemas s ON s.oid = typnamespace
    WHERE typtype IN ('e', 'd', 'r') AND NOT (nspname = 'public' AND typname = 'earlyaccess_status')
  UNION ALL SELECT 'policy', polname::text, to_jsonb(p) FROM pg_policy p JOIN relations ON relations.oid = polrelid
  UNION ALL SELECT 'trigger', tgname::text, to_jsonb(t) FROM pg_trigger t JOIN relations ON relations.oid = tgrelid
  UNION ALL SELECT 'default', d.oid::text, to_jsonb(d) FROM pg_default_acl d
  UNION ALL SELECT 'extension', extname::text, to_jsonb(e) FROM pg_extension e
  UNION ALL SELECT 'database', datname::text, jsonb_build_object('owner', datdba, 'acl', datacl) FROM pg_database WHERE datname = current_database()
  UNION ALL SELECT 'role', rolname::text, to_jsonb(r) FROM pg_authid r WHERE starts_with(rolname, $1) AND rolname NOT LIKE '%\\_worker'
  UNION ALL SELECT 'member', roleid::regrole || ' ' || member::regrole || ' ' || grantor::regrole, to_jsonb(m) - 'oid' FROM pg_auth_members m
    WHERE starts_with(roleid::regrole::text, $1) AND roleid::regrole::text NOT LIKE '%\\_worker'
)
SELECT concat_ws(' ', kind, name, state) AS line FROM described ORDER BY line`;
