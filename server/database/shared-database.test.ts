// Migrating a database that another application uses as well.
import { afterEach, beforeEach, expect, it } from "vitest";
import { createEmptyDatabase, superuserUrl, type TestDatabase } from "../../tests/support/database.ts";
import {
  createOtherApplication,
  describeOthers,
  dropOtherApplicationRoles,
} from "../../tests/support/other-application.ts";
import { queryAs } from "../../tests/support/query.ts";
import { migrate } from "./migrate.ts";
import { MissingRightError, type DatabaseUrls } from "./roles.ts";

let database: TestDatabase;
let superuser: string;
let prefix: string;

beforeEach(async () => {
  database = await createEmptyDatabase();
  prefix = new URL(database.ownerUrl).pathname.slice(1);
  superuser = superuserUrl(prefix);
});

afterEach(async () => {
  await database.drop();
  await dropOtherApplicationRoles(superuserUrl("postgres"), `${prefix}_shop`);
});

const asSuperuser = (sql: string) => queryAs(superuser, sql);
const insert = "INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'A', 'a@b.co', 'C')";

it("another application in the database is the same after two migrations, also with webhooks", async () => {
  await createOtherApplication(superuser, { name: `${prefix}_shop`, owner: `${prefix}_owner`, web: `${prefix}_web` });
  const before = await describeOthers(superuser, prefix);
  await migrate(database);
  await migrate({ ...database, worker: { url: database.workerUrl, tasks: ["webhook"] } });
  expect(await describeOthers(superuser, prefix)).toEqual(before);
  await queryAs(database.webUrl, insert);
  await expect(queryAs(database.webUrl, "SELECT * FROM earlyaccess")).rejects.toMatchObject({ code: "42501" });
});

it("another application that uses Prisma keeps its migrations, and does not make the site's look unapplied", async () => {
  await asSuperuser(`CREATE ROLE ${prefix}_shop; GRANT CREATE ON SCHEMA public TO ${prefix}_shop; SET ROLE ${prefix}_shop;
    CREATE TABLE _prisma_migrations (id varchar(36) PRIMARY KEY, checksum varchar(64) NOT NULL, finished_at timestamptz,
      migration_name varchar(255) NOT NULL, logs text, rolled_back_at timestamptz,
      started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count int NOT NULL DEFAULT 0);
    INSERT INTO _prisma_migrations VALUES ('1', 'x', now(), '20200101000000_shop', NULL, NULL, now(), 1),
      ('2', 'y', now(), '20990101000000_shop', NULL, NULL, now(), 1)`);
  const theirs = () => asSuperuser("SELECT * FROM _prisma_migrations WHERE migration_name LIKE '%shop' ORDER BY id");
  const before = await theirs();
  const failure = (await migrate(database).catch((error: unknown) => error)) as Error;
  expect(failure).toBeInstanceOf(MissingRightError); // It may not write their table.
  for (const sql of failure.message.split("\n").filter((line) => line.endsWith(";"))) await asSuperuser(sql);
  expect((await migrate(database)).applied).not.toEqual([]);
  expect((await migrate(database)).applied).toEqual([]);
  expect(await theirs()).toEqual(before);
});

it("another application's queue in the schema graphile_worker is not migrated", async () => {
  await asSuperuser(`CREATE ROLE ${prefix}_shop; CREATE SCHEMA graphile_worker AUTHORIZATION ${prefix}_shop;
    SET ROLE ${prefix}_shop; CREATE TABLE graphile_worker.jobs (id int, locked_by text)`);
  const urls: DatabaseUrls = { ...database, worker: { url: database.workerUrl, tasks: ["webhook"] } };
  await expect(migrate(urls)).rejects.toThrow(`graphile_worker belongs to "${prefix}_shop"`);
  expect(await asSuperuser("SELECT tablename FROM pg_tables WHERE schemaname = 'graphile_worker'")).toHaveLength(1);
  expect((await migrate(database)).webRole).toBe("restricted"); // Without webhooks it is of no concern.
});
