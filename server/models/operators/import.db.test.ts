// The statements of an import, in a real Postgres.
import { randomUUID } from "node:crypto";
import { expect, it, onTestFinished } from "vitest";
import { createTestDatabase } from "../../../tests/support/database.ts";
import { fieldColumns, sourceColumns } from "../../database/columns.ts";
import { connectTo } from "../../database/connect.ts";
import { checkEntries, type ImportedEntry } from "./import.ts";

it("a batch of an import is found by an index: otherwise, each would read all lines", async () => {
  const database = await createTestDatabase();
  const owner = await connectTo(database.ownerUrl);
  onTestFinished(() => owner.end());
  const nothing = Object.fromEntries([...fieldColumns, ...sourceColumns].map((column) => [column, null]));
  async function* entries() {
    for (let i = 0; i < 10_000; i++) {
      const own = {
        id: randomUUID(),
        email: `${i}@b.co`,
        created_at: null,
        status: null,
        confirmed_at: null,
        mail_refusal: null,
        imported: true,
        suspected_spam: false,
      };
      yield { ...nothing, ...own } as unknown as ImportedEntry;
    }
  }
  await checkEntries(owner, entries());
  const { rows } = await owner.query("EXPLAIN SELECT FROM pg_temp.line WHERE row_number > 5000 AND row_number <= 6000");
  expect(JSON.stringify(rows)).toContain("Index");
});
