// The doctor's findings about ERASURE_KEY.
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { runWaitlist } from "../../../../tests/support/waitlist.ts";
import { migrate } from "../../../database/migrate.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

const key = "erasure-key-of-the-tests".padEnd(40, ".");

async function findings(env: Record<string, string>): Promise<string[]> {
  const { stdout } = await runWaitlist(database, ["doctor"], env);
  expect(stdout).not.toContain(key);
  return stdout.split("\n").filter((line) => line.includes(" Erasures: "));
}

it("warns if an https site has no key, whose table is missing if it has one", async () => {
  const https = { PUBLIC_URL: "https://perennial.example" };
  expect(await findings({})).toEqual([]);
  expect(await findings(https)).toEqual([
    expect.stringMatching(/^warning .* set ERASURE_KEY .*: openssl rand -hex 32$/),
  ]);
  expect(await findings({ ...https, ERASURE_KEY: key })).toEqual([expect.stringMatching(/^problem .* Migrate with /)]);
});

it("reports a wrong and a missing key", async () => {
  await migrate({ ...database, erasureKey: key });
  expect(await findings({ ERASURE_KEY: key })).toEqual([expect.stringMatching(/^ok /)]);
  expect(await findings({ ERASURE_KEY: "another-key".repeat(3) })).toEqual([
    expect.stringMatching(/^problem .* not the key /),
  ]);
  expect(await findings({})).toEqual([expect.stringMatching(/^problem .* ERASURE_KEY is not set/)]);
});
