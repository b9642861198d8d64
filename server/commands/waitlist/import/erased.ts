// The lines of an imported file whose address was erased: they stay off the list.
import pg from "pg";
import { runTransaction } from "./transaction.ts";

/** An SQL condition: the person did not sign up again after the erasure. Without a date, a line may be older than that. */
const isErased = (table: string) =>
  `${table}.hash = erased.hash AND (${table}.created_at IS NULL OR ${table}.created_at <= erased.erased_at)`;

/**
 * Removes the lines of erased addresses from pg_temp.line.
 * @returns their number.
 */
export async function removeErasedLines(client: pg.Client): Promise<number> {
  const { rowCount } = await client.query(
    `DELETE FROM pg_temp.line USING earlyaccess_erasures.addresses AS erased WHERE ${isErased("line")}`,
  );
  return rowCount ?? 0;
}

/**
 * Removes entries of the import whose address was erased after removeErasedLines, before the import inserted them.
 * @returns their number.
 */
export function removeErasedEntries(client: pg.Client, id: string): Promise<number> {
  return runTransaction(client, [
    `DELETE FROM public.earlyaccess AS listed USING pg_temp.entry, earlyaccess_erasures.addresses AS erased
     WHERE listed.email = entry.email AND import_id = ${pg.escapeLiteral(id)} AND ${isErased("entry")}`,
  ]);
}
