// A database and a folder for one test file of the waitlist command, and the command within this process.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import pg from "pg";
import { afterAll, onTestFinished, vi } from "vitest";
import { runCommandLine } from "../../server/commands/waitlist/commands.ts";
import type { DatabaseSettings } from "../../server/config/database-urls.ts";
import { fail } from "../../server/errors.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { builtWaitlist, runSite, until, urlsOf, type Options, type Run, type Site } from "./run.ts";
import { startSite } from "./site.ts";

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
    start: async (options: Options) => endWithTest(await startSite(options)),
    /** Starts the built command, which ends with the test. */
    spawn: (...args: string[]) =>
      endWithTest(runSite({ env: urlsOf(database), command: [process.execPath, builtWaitlist, ...args] })),
    hold: (event: keyof typeof holds, email: string) => hold(database, event, email),
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

function endWithTest(program: Site): Site {
  onTestFinished(() => void program.process.kill("SIGKILL"));
  return program;
}

/** The triggers that hold a transaction at an INSERT, at an UPDATE, or at the COMMIT after an UPDATE. */
const holds = {
  INSERT: "TRIGGER hold BEFORE INSERT ON earlyaccess",
  UPDATE: "TRIGGER hold BEFORE UPDATE ON earlyaccess",
  COMMIT: "CONSTRAINT TRIGGER hold AFTER UPDATE ON earlyaccess DEFERRABLE INITIALLY DEFERRED",
};

/** Holds the transaction that inserts or updates the entry of the address until it is released or the test ends. */
async function hold(database: TestDatabase, event: keyof typeof holds, email: string) {
  const holder = new pg.Client(database.ownerUrl);
  await holder.connect();
  await holder.query(`SELECT pg_advisory_lock(42);
    CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      WHILE NOT pg_try_advisory_xact_lock_shared(42) LOOP PERFORM pg_sleep(0.01); END LOOP;
      RETURN NEW;
    END $$;
    CREATE ${holds[event]} FOR EACH ROW WHEN (NEW.email = '${email}') EXECUTE FUNCTION hold()`);
  /** Resolves when the transaction ended, also one of a killed process, on which Postgres may still work. */
  const release = async () => {
    await holder.end();
    await vi.waitFor(() => database.query("DROP FUNCTION IF EXISTS hold CASCADE"), 20_000);
  };
  onTestFinished(release);
  const waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'";
  const reached = () => until("the trigger holds the transaction", async () => (await database.query(waiting))[0]);
  return { release, reached };
}

type Result = Pick<Run, "code" | "stdout" | "stderr">;

/** Runs the command in this process, one at a time. @param env overrides the URLs of the database. */
export async function runWaitlist(
  database: DatabaseSettings,
  args: string[],
  env: Record<string, string> = {},
): Promise<Result> {
  const [folder, own] = [process.cwd(), process.env];
  process.chdir(tmpdir()); // No .env changes a test.
  process.env = { ...urlsOf(database), ...env };
  const [stdout, stderr] = [capture("stdout"), capture("stderr")];
  try {
    await runCommandLine(args);
  } catch (error) {
    fail(error);
  } finally {
    process.chdir(folder);
    process.env = own;
  }
  const code = Number(process.exitCode ?? 0);
  process.exitCode = undefined;
  return { code, stdout: stdout(), stderr: stderr() };
}

/** Returns a function that ends the capture, and returns what was written. */
function capture(name: "stdout" | "stderr"): () => string {
  const own = process[name];
  const chunks: Buffer[] = [];
  const stream = new Writable({ write: (chunk: Buffer, _, done) => (chunks.push(chunk), done()) });
  const replace = (value: Writable) => Object.defineProperty(process, name, { value, configurable: true });
  replace(stream);
  return () => {
    replace(own);
    return Buffer.concat(chunks).toString();
  };
}
