// The doctor's check of imports: whether an unfinished one left entries.
import type pg from "pg";
import type { Finding } from "./finding.ts";
import { findUnfinished } from "../import/batches.ts";
import { count } from "../progress.ts";

export async function examineImports(owner: pg.Client): Promise<Finding> {
  const what = "Imports";
  const unfinished = await findUnfinished(owner);
  if (!unfinished) return { verdict: "ok", what, text: "none is unfinished" };
  if (unfinished.isRunning) return { verdict: "ok", what, text: "one is running" };
  const left = `the import of ${unfinished.startedAt} UTC did not finish. It left entries on the list: ${count(unfinished.entries)}.`;
  return { verdict: "problem", what, text: `${left} The next import, of any file, removes them first.` };
}
