// The doctor's check of erased addresses: whether ERASURE_KEY is the key of this database.
import type pg from "pg";
import { requireErasureKey } from "../../../database/erasures.ts";
import { OperatorError } from "../../../operator-messages.ts";
import type { Finding } from "./finding.ts";

export async function* examineErasures(owner: pg.Client, key: string | undefined): AsyncGenerator<Finding> {
  const what = "Erasures";
  try {
    if (await requireErasureKey(owner, key))
      yield { verdict: "ok", what, text: "ERASURE_KEY is the key of this database" };
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    yield { verdict: "problem", what, text: error.message };
  }
}
