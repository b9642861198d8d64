// Migrating a database that another application uses as well.
import { beforeEach, expect, it } from "vitest";
import { createEmptyDatabase, insertEntry, type TestDatabase } from "../../tests/support/database.ts";
import { queryAs } from "../../tests/support/postgres.ts";
import { migrate } from "./migrate.ts";

let database: TestDatabase;
let prefix: string;

beforeEach(async () => {
  database = await createEmptyDatabase();
  prefix = database.name;
});

/** Creates the other application, which owns the database; the site's owner may create tables and schemas, and the web role is one of its readers. */
async function createOtherApplication(): Promise<void> {
  const [name, owner, web] = [`${prefix}_shop`, `${prefix}_owner`, `${prefix}_web`];
  await database.asSuperuser(
    `CREATE ROLE ${name} LOGIN CREATEDB; CREATE ROLE ${name}_readers;
     CREATE ROLE ${web} LOGIN CREATEDB BYPASSRLS PASSWORD 'it''s a long secret';
     GRANT ${name}_readers TO ${web};
     ALTER DATABASE ${prefix} OWNER TO ${name}; GRANT CREATE ON DATABASE ${prefix} TO ${owner}, ${web};
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

/** The owner and the rights of every object that is not the site's, and the roles whose names begin with the parameter. */
const describeOthers = `
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

it("another application in the database is the same after two migrations, also with webhooks", async () => {
  await createOtherApplication();
  const before = await database.asSuperuser(describeOthers, [prefix]);
  await migrate(database);
  await migrate({ ...database, worker: { url: database.workerUrl, tasks: ["webhook"] } });
  expect(await database.asSuperuser(describeOthers, [prefix])).toEqual(before);
  await queryAs(database.webUrl, insertEntry);
  await expect(queryAs(database.webUrl, "SELECT * FROM earlyaccess")).rejects.toMatchObject({ code: "42501" });
});

it("another application that uses Prisma keeps its migrations, and does not make the site's look unapplied", async () => {
  await database.asSuperuser(`CREATE ROLE ${prefix}_shop; GRANT CREATE ON SCHEMA public TO ${prefix}_shop; SET ROLE ${prefix}_shop;
    CREATE TABLE _prisma_migrations (id varchar(36) PRIMARY KEY, checksum varchar(64) NOT NULL, finished_at timestamptz,
      migration_name varchar(255) NOT NULL, logs text, rolled_back_at timestamptz,
      started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count int NOT NULL DEFAULT 0);
    INSERT INTO _prisma_migrations VALUES ('1', 'x', now(), '20200101000000_shop', NULL, NULL, now(), 1),
      ('2', 'y', now(), '20990101000000_shop', NULL, NULL, now(), 1)`);
  const theirs = () =>
    database.asSuperuser("SELECT * FROM _prisma_migrations WHERE migration_name LIKE '%shop' ORDER BY id");
  const before = await theirs();
  const failure = (await migrate(database).catch((error: unknown) => error)) as Error;
  expect(failure).toMatchObject({ name: "OperatorError" }); // The owner may not write their table.
  for (const sql of failure.message.split("\n").filter((line) => line.endsWith(";"))) await database.asSuperuser(sql);
  expect((await migrate(database)).applied).not.toEqual([]);
  expect((await migrate(database)).applied).toEqual([]);
  expect(await theirs()).toEqual(before);
});

it("another application's queue in the schema graphile_worker is not migrated", async () => {
  await database.asSuperuser(`CREATE ROLE ${prefix}_shop; CREATE SCHEMA graphile_worker AUTHORIZATION ${prefix}_shop;
    SET ROLE ${prefix}_shop; CREATE TABLE graphile_worker.jobs (id int, locked_by text)`);
  const worker = { url: database.workerUrl, tasks: ["webhook" as const] };
  await expect(migrate({ ...database, worker })).rejects.toThrow(`graphile_worker belongs to "${prefix}_shop"`);
  expect(
    await database.asSuperuser("SELECT tablename FROM pg_tables WHERE schemaname = 'graphile_worker'"),
  ).toHaveLength(1);
  await migrate(database); // Without webhooks, the site needs no queue.
});
