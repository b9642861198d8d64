// What the doctor reports about the age of the last backup.
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { withClient } from "../../../../tests/support/query.ts";
import { examineBackups } from "./backups.ts";
import type { Finding } from "./finding.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

// In this order, as each adds to the same table.
it.each([
  ["none", undefined, "ok", "none by the Compose profile backup"],
  [
    "50 hours",
    "50 hours",
    "warning",
    "the last good one is 50 h old (entries: 7). See what failed: docker compose logs backup",
  ],
  ["47 hours", "47 hours 59 minutes", "ok", "the last good one is 47 h old (entries: 7)"],
])("reports the last backup: %s", async (_, age, verdict, text) => {
  if (age) {
    await database.query(
      `INSERT INTO earlyaccess_backups (finished_at, entries) VALUES (now() - interval '${age}', 7)`,
    );
  }
  const findings: Finding[] = [];
  await withClient(database.ownerUrl, async (client) => {
    for await (const finding of examineBackups(client)) findings.push(finding);
  });
  expect(findings).toEqual([{ verdict, what: "Backups", text }]);
});
