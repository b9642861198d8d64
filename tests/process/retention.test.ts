// The daily deletion of old entries, by the built worker.
import { afterEach, beforeEach, expect, it } from "vitest";
import { hashAddress } from "../../server/database/erasure-key.ts";
import { migrate } from "../../server/database/migrate.ts";
import { createEmptyDatabase, superuserUrl, type TestDatabase } from "../support/database.ts";
import { killedAfterEach } from "../support/killed-after-each.ts";
import { queryAs } from "../support/query.ts";
import { runWorker } from "../support/site.ts";
import { until } from "../support/until.ts";

const key = "a-key-of-32-characters-for-tests";
let database: TestDatabase;

beforeEach(async () => {
  database = await createEmptyDatabase();
});

afterEach(() => database.drop());

const running = killedAfterEach();

async function startWorker(env: Record<string, string> = {}) {
  const worker = runWorker({ DATABASE_URL: database.workerUrl, RETENTION_MONTHS: "24", ...env });
  running.push(worker);
  await until("the worker started", () => worker.stdout().includes("worker started"));
  return worker;
}

/** One entry above the age and one below. */
async function fill() {
  await database.query(
    `INSERT INTO earlyaccess (id, name, email, company, created_at)
     SELECT gen_random_uuid(), 'Ada', name || '@example.com', 'Engines', now() - age::interval
     FROM (VALUES ('old', '24 months 1 day'), ('new', '23 months 27 days')) AS entry (name, age)`,
  );
}

const emails = async () => (await database.query("SELECT email FROM earlyaccess")).map(({ email }) => email);
const finished = () =>
  until("the job is done", async () => (await database.query("SELECT FROM graphile_worker.jobs")).length === 0);

it("deletes what is older than RETENTION_MONTHS or was erased before a restore, and keeps the hashes", async () => {
  await migrate({ ...database, erasureKey: key, worker: { url: database.workerUrl, tasks: ["purge"] } });
  await fill();
  await database.query(
    "INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'Bob', 'back@example.com', 'Bobs')",
  );
  const hash = hashAddress("back@example.com", key);
  await database.query("INSERT INTO earlyaccess_erasures.addresses (hash) VALUES ($1)", [hash]);
  const worker = await startWorker({ ERASURE_KEY: key });
  expect(worker.stdout()).toContain("worker started: purge");
  await database.query("SELECT graphile_worker.add_job('purge')");
  await finished();
  expect(await emails()).toEqual(["new@example.com"]);
  const erased = "SELECT FROM earlyaccess_erasures.addresses WHERE hash = $1";
  expect(await database.query(erased, [hashAddress("old@example.com", key)])).toHaveLength(1);
  expect(worker.stdout()).toContain("deleted entries older than 24 months: 1, of erased addresses: 1");
  expect(worker.stdout() + worker.stderr()).not.toContain("@");
});

it("catches up the run of a day on which no worker ran", async () => {
  await migrate({ ...database, worker: { url: database.workerUrl, tasks: ["purge"] } });
  await fill();
  await (await startWorker()).stop();
  expect(await emails()).toHaveLength(2);
  await database.query(
    "UPDATE graphile_worker._private_known_crontabs SET known_since = known_since - interval '3 days'",
  );
  await startWorker();
  await until("the old entry is deleted", async () => (await emails()).length === 1);
  await finished();
});

it("reads neither name nor company, and sends nothing", async () => {
  await migrate({ ...database, worker: { url: database.workerUrl, tasks: ["purge"] } });
  for (const column of ["name", "company", "token_hash"]) {
    await expect(queryAs(database.workerUrl, `SELECT ${column} FROM earlyaccess`)).rejects.toMatchObject({
      code: "42501",
    });
  }
  await fill();
  expect(await database.query("SELECT FROM graphile_worker.jobs")).toEqual([]);
});

it("runs no function that another role created in public", async () => {
  await migrate({ ...database, worker: { url: database.workerUrl, tasks: ["purge"] } });
  await fill();
  // As on Postgres 14, where every role may create objects in public.
  await queryAs(superuserUrl(new URL(database.ownerUrl).pathname.slice(1)), "GRANT CREATE ON SCHEMA public TO PUBLIC");
  await queryAs(
    database.webUrl,
    `CREATE FUNCTION public.make_interval(months text) RETURNS interval LANGUAGE plpgsql AS $$
     BEGIN RAISE EXCEPTION 'it runs with the rights of %', current_user; END $$;
     CREATE FUNCTION public.make_interval(months int) RETURNS interval LANGUAGE plpgsql AS $$
     BEGIN RAISE EXCEPTION 'it runs with the rights of %', current_user; END $$`,
  );
  const worker = await startWorker();
  await database.query("SELECT graphile_worker.add_job('purge')");
  await finished();
  expect(await emails()).toEqual(["new@example.com"]);
  expect(worker.stdout()).not.toContain("with the rights of");
});
