// Commits that hold no lock while they wait for the disk.

/** An SQL expression: the transaction of its statement commits without waiting for the disk. */
export const asyncCommit = "set_config('synchronous_commit', 'off', true)";

/**
 * Runs a statement that uses asyncCommit, then waits for the disk. A statement that waits itself would hold its locks
 * meanwhile: a second statement for the same address would wait as well if the first one had changed something, and its time
 * would reveal whether the address was on the list. The wait is the same if nothing was changed.
 * @returns what the statement returned.
 */
export async function executeDurably<Result>(
  execute: (statement: string, ...parameters: unknown[]) => Promise<Result>,
  statement: string,
  ...parameters: unknown[]
): Promise<Result> {
  const result = await execute(statement, ...parameters);
  // Also waits for every earlier commit.
  await execute("SELECT pg_logical_emit_message(true, 'earlyaccess', '')::text");
  return result;
}
