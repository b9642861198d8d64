// waitlist import beside sign-ups, and what remains if it ends midway.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { connect, createPool, type Database } from "../../server/database/connect.ts";
import { createWaitlist } from "../../server/models/waitlist.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { entryOf } from "../support/entry.ts";
import { killedAfterEach } from "../support/killed-after-each.ts";
import { runSite, type Site } from "../support/site.ts";
import { builtWaitlist, runBuiltWaitlist } from "../support/waitlist.ts";
import { holdFunction } from "../support/waitlist-fixture.ts";

let database: TestDatabase;
let connection: Database;
let folder: string;
let holder: pg.Client;
const started: Site[] = killedAfterEach();

const file = () => join(folder, "large.csv");
const people = Array.from({ length: 3_000 }, (_, i) => `person${10_000 + i}@example.com`);

beforeAll(async () => {
  database = await createTestDatabase();
  connection = connect(createPool(database.webUrl), pino({ enabled: false }));
  folder = await mkdtemp(join(tmpdir(), "perennial-import-"));
  // Three batches of 1,000.
  await writeFile(file(), `name,email,company\n${people.map((email) => `Ada,${email},E\n`).join("")}`);
  await database.query(holdFunction);
});

afterAll(async () => {
  await connection.close();
  await rm(folder, { recursive: true });
  await database.drop();
});

beforeEach(async () => {
  holder = new pg.Client(database.ownerUrl);
  await holder.connect();
  await holder.query("SELECT pg_advisory_lock(42)");
  // In the middle of the second batch.
  await database.query(`CREATE TRIGGER hold BEFORE INSERT ON earlyaccess
    FOR EACH ROW WHEN (NEW.email = 'person11500@example.com') EXECUTE FUNCTION hold()`);
});

afterEach(async () => {
  await holder.end();
  await vi.waitFor(() => database.query("TRUNCATE earlyaccess"), 10_000);
  await database.query("DROP TRIGGER hold ON earlyaccess");
});

const stored = async () =>
  (await database.query("SELECT email, imported FROM earlyaccess ORDER BY email")) as {
    email: string;
    imported: boolean;
  }[];

const release = () => holder.query("SELECT pg_advisory_unlock(42)");

/** Resolves when the first of three batches is committed and the second one waits midway. */
async function startImport(): Promise<Site> {
  const env = { DATABASE_URL: database.webUrl, DATABASE_OWNER_URL: database.ownerUrl };
  const importing = runSite({ env, command: [process.execPath, builtWaitlist, "import", file()] });
  started.push(importing);
  const waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'";
  await vi.waitFor(async () => expect(await database.query(waiting)).not.toEqual([]), 20_000);
  return importing;
}

const signUp = (...emails: string[]) => {
  const list = createWaitlist(connection.execute);
  return Promise.all(emails.map((email) => list.join(entryOf(email))));
};

it("import holds up no sign-up of another address, and skips addresses that signed up meanwhile", async () => {
  const importing = await startImport();
  // An address that is not in the file, one of a committed batch, and one of a later batch.
  await signUp("visitor@example.com", "person10000@example.com", "person12500@example.com");
  await release();
  expect(await importing.stop("SIGCONT")).toBe(0);
  expect(importing.stdout()).toMatch(/\nImported 2,999\.\n$/);
  const entries = await stored();
  expect(entries.map(({ email }) => email)).toEqual([...people, "visitor@example.com"]);
  const signUps = entries.filter(({ imported }) => !imported).map(({ email }) => email);
  expect(signUps).toEqual(["person12500@example.com", "visitor@example.com"]);
});

it.each([
  ["SIGKILL", null, /^$/],
  [
    "SIGTERM",
    1,
    /^Ended by SIGTERM\. The import stopped after 1,000 new entries \(.*\)\. Run the same command again: .*\n$/,
  ],
] as const)("import after %s, the same command adds the rest", async (signal, code, message) => {
  const importing = await startImport();
  expect([await importing.stop(signal), importing.stderr()]).toEqual([code, expect.stringMatching(message)]);
  await release();
  // Postgres may still work on the batch of the killed import.
  await vi.waitFor(
    async () => expect(await runBuiltWaitlist(database, ["import", file()])).toMatchObject({ code: 0, stderr: "" }),
    20_000,
  );
  expect((await stored()).map(({ email }) => email)).toEqual(people);
});

it("import gives up if another transaction holds an address, so that sign-ups of its batch need not wait for it", async () => {
  await release();
  await holder.query("BEGIN");
  await holder.query(
    "INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'A', 'person11500@example.com', 'E')",
  );
  const importing = runBuiltWaitlist(database, ["import", file()]);
  await vi.waitFor(async () => expect((await stored()).length).toBeGreaterThanOrEqual(1_000), 20_000);
  await signUp("person11000@example.com");
  const stderr =
    "The import stopped after 1,000 new entries (55P03). Run the same command again: it skips addresses that are on the list.\n";
  expect(await importing).toMatchObject({ code: 1, stderr });
  await holder.query("COMMIT");
  expect((await runBuiltWaitlist(database, ["import", file()])).stdout).toMatch(
    /^3,000 lines, 1,002 already on the list, .*\nImported 1,998\.\n$/,
  );
});
