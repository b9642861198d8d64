// waitlist import beside sign-ups, and what remains if it ends midway.
import { writeFile } from "node:fs/promises";
import { beforeEach, expect, it, vi } from "vitest";
import { runBuiltWaitlist } from "../support/run.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";
import { openSignUps } from "../support/worker.ts";

const { database, file, hold, spawn } = await createWaitlistFixture();
const people = Array.from({ length: 3_000 }, (_, i) => `person${10_000 + i}@example.com`);
let held: Awaited<ReturnType<typeof hold>>;

// Three batches of 1,000.
await writeFile(file("large.csv"), `name,email,company\n${people.map((email) => `Ada,${email},E\n`).join("")}`);

beforeEach(async () => {
  await database.query("TRUNCATE earlyaccess");
  held = await hold("INSERT", "person11500@example.com"); // In the middle of the second batch.
});

async function emails(condition = "true"): Promise<unknown[]> {
  const rows = await database.query(`SELECT email FROM earlyaccess WHERE ${condition} ORDER BY email`);
  return rows.map(({ email }) => email);
}

it("import holds up no sign-up of another address, and skips addresses that signed up meanwhile", async () => {
  const signUp = await openSignUps(database);
  const importing = spawn("import", file("large.csv"));
  await held.reached();
  // An address that is not in the file, one of a committed batch, and one of a later batch.
  for (const email of ["visitor@example.com", "person10000@example.com", "person12500@example.com"]) {
    expect(await signUp(email)).toBe(201);
  }
  await held.release();
  expect(await importing.stop("SIGCONT")).toBe(0);
  expect(importing.stdout()).toMatch(/\nImported 2,999\.\n$/);
  expect(await emails()).toEqual([...people, "visitor@example.com"]);
  expect(await emails("NOT imported")).toEqual(["person12500@example.com", "visitor@example.com"]);
});

it.each([
  ["SIGKILL", /^$/],
  ["SIGTERM", /^Ended by SIGTERM\. The import stopped midway \(.*\)\. Run the same command again: /],
] as const)("the same import command adds the rest after one that %s ended", async (signal, message) => {
  const importing = spawn("import", file("large.csv"));
  await held.reached();
  await importing.stop(signal);
  expect(importing.stderr()).toMatch(message);
  await held.release();
  // Postgres may still work on the batch of the killed import.
  const repeat = () => runBuiltWaitlist(database, ["import", file("large.csv")]);
  await vi.waitFor(async () => expect(await repeat()).toMatchObject({ code: 0, stderr: "" }), 20_000);
  expect(await emails()).toEqual(people);
});
