// waitlist import during sign-ups: it is all or nothing, and every sign-up stays, however the import ends.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { connect, createPool, type Database } from "../../server/database/connect.ts";
import { parseEntry, type WaitlistEntry } from "../../server/models/waitlist-entry.ts";
import { createWaitlist } from "../../server/models/waitlist.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { killedAfterEach } from "../support/killed-after-each.ts";
import { runSite, type Site } from "../support/site.ts";
import { openWire } from "../support/tcp-proxy.ts";
import { builtWaitlist, runWaitlist } from "../support/waitlist.ts";

let database: TestDatabase;
let connection: Database;
let folder: string;
let holder: pg.Client;
const started: Site[] = killedAfterEach();

beforeAll(async () => {
  database = await createTestDatabase();
  connection = connect(createPool(database.webUrl), pino({ enabled: false }));
  folder = await mkdtemp(join(tmpdir(), "perennial-import-"));
  // Three batches of 2,000.
  const lines = Array.from({ length: 6_000 }, (_, i) => `Ada,person${10_000 + i}@example.com,E\n`);
  await writeFile(file("large.csv"), `name,email,company\n${lines.join("")}`);
  await writeFile(file("small.csv"), "name,email,company\nZoe,zoe@example.com,E\n");
  await database.query(`CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      WHILE NOT pg_try_advisory_xact_lock_shared(42) LOOP PERFORM pg_sleep(0.01); END LOOP;
      RETURN NEW;
    END $$`);
  await database.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$`);
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
    FOR EACH ROW WHEN (NEW.email = 'person13000@example.com') EXECUTE FUNCTION hold()`);
});

afterEach(async () => {
  await holder.end();
  await vi.waitFor(() => database.query("TRUNCATE earlyaccess"), 10_000);
  await database.query("DROP TRIGGER hold ON earlyaccess");
  await database.query("DROP TRIGGER IF EXISTS refuse ON earlyaccess");
});

const file = (name: string) => join(folder, name);
const addresses = async () =>
  (await database.query("SELECT email FROM earlyaccess ORDER BY email")).map(({ email }) => email);
const waitlist = (...args: string[]) => runWaitlist(database, args);
const release = () => holder.query("SELECT pg_advisory_unlock(42)");

/** Resolves when the first of three batches is committed and the second one waits midway. */
async function startImport(): Promise<Site> {
  const env = { DATABASE_URL: database.webUrl, DATABASE_OWNER_URL: database.ownerUrl };
  const importing = runSite({ env, command: [process.execPath, builtWaitlist, "import", file("large.csv")] });
  started.push(importing);
  await untilHeld();
  return importing;
}

const untilHeld = () =>
  untilFound("SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'");

async function untilFound(query: string): Promise<void> {
  await vi.waitFor(async () => expect(await database.query(query)).not.toEqual([]), 20_000);
}

/** Addresses in the committed batch, in the current batch, in a later batch, and not in the file. */
const visitors = ["person10000", "person12000", "person15000", "visitor"].map((name) => `${name}@example.com`);

/** Starts the sign-ups, and resolves when they wait for the batch. */
async function signUp(): Promise<{ answers: Promise<unknown> }> {
  const list = createWaitlist(connection.execute);
  const entries = visitors.map((email) => {
    const parsed = parseEntry({ name: "Visitor", email, company: "E" });
    return (parsed as { entry: WaitlistEntry }).entry;
  });
  const answers = Promise.all(entries.map((entry) => list.join(entry)));
  await untilFound(
    "SELECT FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE datname = current_database() AND NOT granted",
  );
  return { answers };
}

const triggerState = async () =>
  (await database.query("SELECT tgenabled FROM pg_trigger WHERE tgname = 'earlyaccess_keep_sign_up'"))[0]?.tgenabled;

/** What an import leaves behind, apart from entries. */
const traces = async () => ({
  imports: await database.query("SELECT FROM earlyaccess_imports WHERE finished_at IS NULL"),
  trigger: await triggerState(),
});
const noTraces = { imports: [], trigger: "D" };

it("imports everything while people sign up", async () => {
  const importing = await startImport();
  const { answers } = await signUp();
  await release();
  await answers;
  expect(await importing.stop("SIGCONT")).toBe(0);
  expect(importing.stdout()).toMatch(/\nImported 5,999\.\n$/);
  expect(await addresses()).toHaveLength(6_001);
  expect(await traces()).toEqual(noTraces);
});

it("removes its entries if a late line fails, but no sign-up", async () => {
  await database.query(`CREATE TRIGGER refuse BEFORE INSERT ON earlyaccess
    FOR EACH ROW WHEN (NEW.email = 'person15999@example.com') EXECUTE FUNCTION refuse()`);
  const importing = await startImport();
  const { answers } = await signUp();
  await release();
  await answers;
  expect(await importing.stop("SIGCONT")).toBe(1);
  expect(importing.stderr()).toBe("Postgres refused the entries (P0001); see its log. Nothing was imported.\n");
  expect(await addresses()).toEqual(visitors);
  expect(await traces()).toEqual(noTraces);
});

it("removes its entries after SIGTERM, but no sign-up", async () => {
  const importing = await startImport();
  const { answers } = await signUp();
  const stopped = importing.stop("SIGTERM");
  await release();
  await answers;
  expect(await stopped).toBe(1);
  expect(importing.stderr()).toMatch(/^Ended by SIGTERM\. .* Nothing was imported\.\n$/);
  expect(await addresses()).toEqual(visitors);
  expect(await traces()).toEqual(noTraces);
});

it("after SIGKILL, the next import removes the entries", async () => {
  const importing = await startImport();
  const { answers } = await signUp();
  await importing.stop("SIGKILL");
  await release();
  await answers;
  // Postgres notices after a while that the killed import is gone.
  const dryRun = await vi.waitFor(async () => {
    const { stdout } = await waitlist("import", file("large.csv"), "--dry-run");
    expect(stdout).toContain("An earlier import did not finish.");
    return stdout;
  }, 20_000);
  expect(dryRun).toBe(
    "An earlier import did not finish. The next import removes its 3,998 entries.\n" +
      "6,000 lines, 3 already on the list, 0 twice in the file, 0 wrong.\nWould import 5,997; nothing was changed.\n",
  );
  // The three that signed up stay; the others are not on the list.
  expect((await waitlist("export")).stdout.split("\n")).toHaveLength(1 + visitors.length + 1);
  expect((await waitlist("stats")).stdout).toMatch(new RegExp(`^all +${visitors.length} `, "m"));
  expect(await addresses()).toHaveLength(4_002);
  expect(await waitlist("import", file("small.csv"))).toEqual({
    code: 0,
    stdout:
      "Removed 3,998 entries of an earlier import that did not finish.\n" +
      "1 lines, 0 already on the list, 0 twice in the file, 0 wrong.\nImported 1.\n",
    stderr: "",
  });
  expect(await addresses()).toEqual([...visitors, "zoe@example.com"]);
  expect(await traces()).toEqual(noTraces);
});

it("refuses a second import at the same time", async () => {
  const importing = await startImport();
  const stderr = "Another import is running. Wait until it has ended, then import again.\n";
  expect(await waitlist("import", file("small.csv"))).toEqual({ code: 1, stdout: "", stderr });
  await release();
  expect(await importing.stop("SIGCONT")).toBe(0);
});

it("reconnects to remove its entries if the connection is lost, or reports that it cannot", async () => {
  const wire = await openWire(database.ownerUrl);
  const env = { DATABASE_OWNER_URL: wire.url(database.ownerUrl) };
  const first = runWaitlist(database, ["import", file("large.csv")], env);
  await untilHeld();
  await wire.mend(); // Ends every connection and accepts new ones.
  await release();
  expect((await first).stderr).toBe("The connection to Postgres ended. Nothing was imported.\n");
  expect([await addresses(), await traces()]).toEqual([[], noTraces]);

  await holder.query("SELECT pg_advisory_lock(42)");
  const second = runWaitlist(database, ["import", file("large.csv")], env);
  await untilHeld();
  await wire.cut();
  expect((await second).stderr).toMatch(/ could not be removed \(.*ECONNREFUSED\)\. The next import, of any file, /);
  await release();
  expect((await waitlist("import", file("large.csv"))).stdout).toMatch(
    /^Removed 4,000 entries .*\nImported 6,000\.\n$/s,
  );
});
