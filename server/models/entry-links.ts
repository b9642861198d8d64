// Confirms and deletes entries by their tokens.
import type { Database } from "../database/connect.ts";
import { hashToken } from "./token.ts";
import { WaitlistUnavailableError } from "./waitlist.ts";

/** Each resolves after the commit, in the same way if no entry has the token. @throws WaitlistUnavailableError */
export interface EntryLinks {
  confirm: (token: string) => Promise<void>;
  leave: (token: string) => Promise<void>;
}

export function createEntryLinks(execute: Database["execute"]): EntryLinks {
  const runForTokens = (name: string) =>
    inBatches(async (tokens) => {
      const hashes = tokens.map((token) => hashToken(token).toString("hex"));
      const statement = `SELECT public.${name}(decode(hash, 'hex')) FROM unnest(string_to_array($1, ',')) AS hash`;
      await execute(statement, hashes.join(",")).catch((cause: unknown) => {
        throw new WaitlistUnavailableError("The link could not be followed", { cause });
      });
    });
  return { confirm: runForTokens("earlyaccess_confirm"), leave: runForTokens("earlyaccess_leave") };
}

/**
 * Runs one statement at a time, with all tokens that arrived meanwhile. A flood of forged tokens then takes one of the ten
 * connections, and sign-ups have the others.
 */
function inBatches(run: (tokens: string[]) => Promise<void>): (token: string) => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  let next: { tokens: string[]; done: Promise<void> } | undefined;

  function start(): { tokens: string[]; done: Promise<void> } {
    const tokens: string[] = [];
    const done = last.then(() => {
      next = undefined;
      return run(tokens);
    });
    last = done.catch(() => undefined);
    return { tokens, done };
  }

  return function add(token) {
    next ??= start();
    next.tokens.push(token);
    return next.done;
  };
}
