// A database and a folder for one test file of the waitlist command.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, onTestFinished } from "vitest";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { startSite, type Options } from "./site.ts";
import { runWaitlist } from "./waitlist.ts";

export async function createWaitlistFixture() {
  const database = await createTestDatabase();
  const folder = await mkdtemp(join(tmpdir(), "perennial-waitlist-"));
  afterAll(() => rm(folder, { recursive: true }));
  return {
    database,
    /** Returns the path of a file in the folder. */
    file: (name = "") => join(folder, name),
    waitlist: (args: string[], env?: Record<string, string>) => runWaitlist(database, args, env),
    /** Starts the built site, which ends with the test. */
    start: async (options: Options) => {
      const site = await startSite(options);
      onTestFinished(() => void site.process.kill("SIGKILL"));
      return site;
    },
    entries: () => database.query("SELECT * FROM earlyaccess ORDER BY email"),
    /** Inserts an entry with these columns; the others have their defaults. */
    add: (name: string, email: string, columns: Record<string, unknown> = {}) =>
      insertEntries(database, [{ name, email, company: "Engines", ...columns }]),
    /** Adds "Person 0", "Person 1" and so on, who signed up one after the other. */
    addPeople: (count: number) =>
      database.query(
        `INSERT INTO earlyaccess (id, name, email, company, created_at)
         SELECT gen_random_uuid(), 'Person ' || i, 'person' || i || '@example.com', 'Engines', now() + i * interval '1 s' - interval '1 day'
         FROM generate_series(0, $1::int - 1) i`,
        [count],
      ),
  };
}

/** Inserts entries that have all the same columns. */
export function insertEntries(database: TestDatabase, entries: object[]) {
  const rows = entries.map((entry) => ({ id: crypto.randomUUID(), ...entry }));
  const columns = Object.keys(rows[0] ?? {}).join(", ");
  return database.query(
    `INSERT INTO earlyaccess (${columns}) SELECT ${columns} FROM json_populate_recordset(null::earlyaccess, $1)`,
    [JSON.stringify(rows)],
  );
}

/** SQL of a trigger function that waits while another session holds the advisory lock 42. */
export const holdFunction = `CREATE OR REPLACE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    WHILE NOT pg_try_advisory_xact_lock_shared(42) LOOP PERFORM pg_sleep(0.01); END LOOP;
    RETURN NEW;
  END $$`;
