// Writes a file that holds personal data: complete or not at all, and for this user alone.
import { randomBytes } from "node:crypto";
import { open, realpath, rename, rm, stat } from "node:fs/promises";
import { OperatorError } from "../../operator-error.ts";
import { printable } from "../../printable.ts";

/**
 * Gives a new, empty file beside `path` to `write`, and puts it in the place of `path` when that is done.
 * Mode 0600; a file that was there is replaced.
 * @throws OperatorError where it cannot be written there.
 */
export async function writePrivately(path: string, write: (draft: string) => Promise<void>): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const found = await stat(target).catch(() => undefined);
  // A device or a pipe would be replaced by a file.
  if (found && !found.isFile()) throw new OperatorError(`${printable(path)} is not a file, and is left as it is.`);
  const draft = `${target}.${randomBytes(4).toString("hex")}.part`;
  try {
    await (await open(draft, "wx", 0o600)).close();
    await write(draft);
    await flush(draft);
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code && syscall && /^(E[A-Z]+)$/.test(code))
      throw new OperatorError(`${printable(path)} cannot be written: ${code}`);
    throw error;
  }
}

/** Renamed before it reached the disk, a file may be empty after a power cut. */
async function flush(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
