// Files with personal data: complete or absent, and readable by this user alone.
import { randomBytes } from "node:crypto";
import { open, realpath, rename, rm, stat } from "node:fs/promises";
import { OperatorError, printable } from "../../operator-messages.ts";

/** A container's disk is read-only, and has none of the operator's folders. */
export function explainCode(code = ""): string {
  if (code !== "ENOENT" && code !== "EROFS") return code;
  return `${code}. In a container, mount the folder (-v "$PWD/exports:/data" --user "$(id -u):$(id -g)"), and name /data/FILE`;
}

/**
 * Lets `write` fill a new file beside `path`, then replaces `path` by it. `write` must flush the file: a power cut after the rename
 * could leave an empty one.
 */
export async function writePrivately<T>(path: string, write: (draft: string) => Promise<T>): Promise<T> {
  const target = await realpath(path).catch(() => path);
  const found = await stat(target).catch(() => undefined);
  // rename would replace a device or a pipe by a file.
  if (found && !found.isFile()) throw new OperatorError(`${printable(path)} is not a file. Nothing was written.`);
  const draft = `${target}.${randomBytes(4).toString("hex")}.part`;
  try {
    await (await open(draft, "wx", 0o600)).close();
    const result = await write(draft);
    await rename(draft, target);
    return result;
  } catch (error) {
    await rm(draft, { force: true });
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code && syscall) throw new OperatorError(`${printable(path)} cannot be written: ${explainCode(code)}`);
    throw error;
  }
}
