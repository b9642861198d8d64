// What the doctor reports about migrations that are missing, unfinished or changed.
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { readConfig } from "../../../config.ts";
import { examineDatabase } from "./database.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

// In this order, as each changes the same record.
it.each([
  ["is changed", "UPDATE _prisma_migrations SET checksum = 'x'", /^the file of \d+_create_earlyaccess is not the one/],
  ["is unfinished", "UPDATE _prisma_migrations SET finished_at = NULL", /^Migration \d+_create_earlyaccess in public/],
  ["is missing", "DELETE FROM _prisma_migrations", /^the database is not up to date\. Migrate: /],
])("a migration that %s is a problem", async (_, sql, text) => {
  await database.query(`${sql} WHERE migration_name LIKE '%_create_earlyaccess'`);
  const findings = [];
  const urls = { ...database, release: async () => undefined };
  for await (const finding of examineDatabase(urls, readConfig({}))) findings.push(finding);
  expect(findings.filter(({ what }) => what === "Migrations")).toEqual([
    { verdict: "problem", what: "Migrations", text: expect.stringMatching(text) },
  ]);
});
