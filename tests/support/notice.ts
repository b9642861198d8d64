// Privacy notices in a test database, stored as a server that shows them.
import { createHash } from "node:crypto";
import type { TestDatabase } from "./database.ts";

const noticeId = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 32);

/** Returns the id. */
export async function storeNotice(database: TestDatabase, text: string): Promise<string> {
  await database.query(
    "INSERT INTO earlyaccess_notices (id, text, shown_at) VALUES ($1, $2, '2026-01-01T10:00:00+01')",
    [noticeId(text), text],
  );
  return noticeId(text);
}
