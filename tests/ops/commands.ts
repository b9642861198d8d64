// Runs the built waitlist command and measures it.
import assert from "node:assert/strict";
import type { DatabaseUrls } from "../../server/database/migrate.ts";
import { run, type Run } from "../support/run.ts";
import { builtWaitlist } from "../support/waitlist.ts";

/** @param discard leaves its stdout unread by this process: it goes to /dev/null. */
export async function waitlist({ ownerUrl, webUrl }: DatabaseUrls, args: string[], discard = false): Promise<Run> {
  return run(
    [process.execPath, builtWaitlist, ...args],
    { DATABASE_URL: webUrl, DATABASE_OWNER_URL: ownerUrl },
    discard,
  );
}

/** @returns what a person at a terminal sees, which `script` plays. */
export async function watch({ ownerUrl, webUrl }: DatabaseUrls, args: string[]): Promise<string> {
  const command = [process.execPath, builtWaitlist, ...args].map((word) => `'${word}'`).join(" ");
  const env = { DATABASE_URL: webUrl, DATABASE_OWNER_URL: ownerUrl };
  const { code, stdout } = await run(["script", "--quiet", "--return", "--command", command, "/dev/null"], env);
  assert.equal(code, 0, stdout);
  return stdout;
}
