// Streams the rows of a COPY statement into a file or to stdout.
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import type pg from "pg";
import { to as copyTo } from "pg-copy-streams";
import { showProgress } from "./progress.ts";

/**
 * @param file a path, or "-" for stdout.
 * @returns the number of rows.
 */
export async function copyToFile(client: pg.Client, copy: string, file: string): Promise<number> {
  // Lets parallel workers of Postgres format the entries, which nearly doubles the rate of a long list.
  await client.query("SET parallel_tuple_cost = 0");
  const progress = showProgress("Export, bytes:");
  const rows = client.query(copyTo(copy));
  rows.on("data", (chunk: Buffer) => progress.advance(chunk.length));
  const output = file === "-" ? process.stdout : createWriteStream(file);
  try {
    await pipeline(rows, output, { end: file !== "-" });
    return rows.rowCount;
  } finally {
    progress.end();
  }
}
