// waitlist import beside sign-ups, and what remains if it ends midway.
import { writeFile } from "node:fs/promises";
import pg from "pg";
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { insertEntry } from "../support/database.ts";
import { runSite, urlsOf, type Site, until, builtWaitlist, runBuiltWaitlist } from "../support/run.ts";
import { createWaitlistFixture, holdFunction } from "../support/waitlist-fixture.ts";
import { openSignUps } from "../support/worker.ts";

const { database, file } = await createWaitlistFixture();
const people = Array.from({ length: 3_000 }, (_, i) => `person${10_000 + i}@example.com`);
let holder: pg.Client;

// Three batches of 1,000.
await writeFile(file("large.csv"), `name,email,company\n${people.map((email) => `Ada,${email},E\n`).join("")}`);
await database.query(holdFunction);

beforeEach(async () => {
  holder = new pg.Client(database.ownerUrl);
  await holder.connect();
  await holder.query("SELECT pg_advisory_lock(42)");
  // This entry is in the middle of the second batch.
  await database.query(`CREATE TRIGGER hold BEFORE INSERT ON earlyaccess
    FOR EACH ROW WHEN (NEW.email = 'person11500@example.com') EXECUTE FUNCTION hold()`);
});

afterEach(async () => {
  await holder.end();
  await vi.waitFor(() => database.query("TRUNCATE earlyaccess"), 10_000);
  await database.query("DROP TRIGGER hold ON earlyaccess");
});

async function emails(condition = "true"): Promise<unknown[]> {
  const rows = await database.query(`SELECT email FROM earlyaccess WHERE ${condition} ORDER BY email`);
  return rows.map(({ email }) => email);
}

const importAgain = () => runBuiltWaitlist(database, ["import", file("large.csv")]);
const release = () => holder.query("SELECT pg_advisory_unlock(42)");

const activity = "SELECT FROM pg_stat_activity WHERE datname = current_database()";
const secondBatchWaits = () =>
  until(
    "the second batch waits midway",
    async () => (await database.query(`${activity} AND wait_event = 'PgSleep'`))[0],
  );

function startImport(): Site {
  const command: [string, ...string[]] = [process.execPath, builtWaitlist, "import", file("large.csv")];
  const importing = runSite({ env: urlsOf(database), command });
  onTestFinished(() => void importing.process.kill("SIGKILL"));
  return importing;
}

it("import holds up no sign-up of another address, and skips addresses that signed up meanwhile", async () => {
  const signUp = await openSignUps(database);
  // While the first batch waits for an address in its middle, another address of the batch can sign up.
  await holder.query("BEGIN");
  await holder.query(insertEntry.replace("a@b.co", "person10500@example.com"));
  const importing = startImport();
  const waiting = `${activity} AND wait_event_type = 'Lock'`;
  await until("the first batch waits", async () => (await database.query(waiting))[0]);
  expect(await signUp("person10400@example.com")).toBe(201);
  await holder.query("ROLLBACK");
  await secondBatchWaits();
  // An address that is not in the file, one of a committed batch, and one of a later batch.
  for (const email of ["visitor@example.com", "person10000@example.com", "person12500@example.com"]) {
    expect(await signUp(email)).toBe(201);
  }
  await release();
  expect(await importing.stop("SIGCONT")).toBe(0);
  expect(importing.stdout()).toMatch(/\nImported 2,998\.\n$/);
  expect(await emails()).toEqual([...people, "visitor@example.com"]);
  expect(await emails("NOT imported")).toEqual([
    "person10400@example.com",
    "person12500@example.com",
    "visitor@example.com",
  ]);
});

it.each([
  ["SIGKILL", /^$/],
  ["SIGTERM", /^Ended by SIGTERM\. The import stopped midway \(.*\)\. Run the same command again: /],
] as const)("the same import command adds the rest after one that %s ended", async (signal, message) => {
  const importing = startImport();
  await secondBatchWaits();
  await importing.stop(signal);
  expect(importing.stderr()).toMatch(message);
  await release();
  // Postgres may still work on the batch of the killed import.
  await vi.waitFor(async () => expect(await importAgain()).toMatchObject({ code: 0, stderr: "" }), 20_000);
  expect(await emails()).toEqual(people);
});
