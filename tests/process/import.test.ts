// waitlist import beside sign-ups, and what remains if it ends midway.
import { writeFile } from "node:fs/promises";
import { beforeEach, expect, it, vi } from "vitest";
import { withClient } from "../support/postgres.ts";
import { runBuiltWaitlist, until } from "../support/run.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";
import { openSignUps } from "../support/worker.ts";

const { database, file, hold, spawn } = await createWaitlistFixture();
const people = Array.from({ length: 3_000 }, (_, i) => `person${10_000 + i}@example.com`);
const held = "person11500@example.com"; // In the middle of the second batch of 1,000 lines.
const waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'transactionid'";

const twice = people.slice(0, 3); // The file has more lines than people, and a last batch of three.
const lines = [...twice, ...people].map((email) => `Ada,${email},E\n`);
await writeFile(file("large.csv"), `name,email,company\n${lines.join("")}`);

beforeEach(() => database.query("TRUNCATE earlyaccess"));

async function emails(condition = "true", order = "email"): Promise<unknown[]> {
  const rows = await database.query(`SELECT email FROM earlyaccess WHERE ${condition} ORDER BY ${order}`);
  return rows.map(({ email }) => email);
}

it("import holds up no sign-up of another address while a session holds an entry, and skips addresses that signed up meanwhile", async () => {
  const signUp = await openSignUps(database);
  const importing = await withClient(database.ownerUrl, async (session) => {
    await session.query("BEGIN");
    await session.query(
      `INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'A', '${held}', 'C')`,
    );
    const program = spawn("import", file("large.csv"));
    await until("the second batch waits", async () => (await database.query(waiting))[0]);
    // An address that is not in the file, one of a committed batch, two of this batch, and one of a later batch.
    for (const name of ["visitor", "person10000", "person11400", "person11300", "person12500"]) {
      expect(await signUp(`${name}@example.com`)).toBe(201);
    }
    return program;
  });
  expect(await importing.stop("SIGCONT")).toBe(0);
  expect(importing.stdout()).toMatch(/\nImported 2,997\.\n$/);
  expect(await emails()).toEqual([...people, "visitor@example.com"]);
  expect(await emails("NOT imported")).toHaveLength(4);
});

it.each([
  ["SIGKILL", /^$/],
  ["SIGTERM", /^Ended by SIGTERM\. The import stopped midway \(.*\)\. Run the same command again: /],
] as const)("the same import command adds the rest after one that %s ended", async (signal, message) => {
  const { release, reached } = await hold("INSERT", held);
  const importing = spawn("import", file("large.csv"));
  await reached();
  await importing.stop(signal);
  expect(importing.stderr()).toMatch(message);
  await release();
  // Postgres may still work on the batch of the killed import.
  const repeat = () => runBuiltWaitlist(database, ["import", file("large.csv")]);
  await vi.waitFor(async () => expect(await repeat()).toMatchObject({ code: 0, stderr: "" }), 60_000);
  expect(await emails("true", "created_at, id")).toEqual(people); // In the order of the file, in which invite takes them.
});
