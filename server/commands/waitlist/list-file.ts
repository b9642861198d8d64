// The output of export and invite: stdout, or a new file that only this user can read, complete or absent.
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import type { Writable } from "node:stream";
import { OperatorError, printable } from "../../errors.ts";
import { countEntries, fileError, print } from "../command.ts";

/**
 * Opens the file before the work: nothing changes if it exists or cannot be created.
 * @param write resolves with the number of entries that it wrote.
 */
export async function writeList(path = "-", write: (output: Writable) => Promise<number>): Promise<void> {
  if (path === "-") {
    await write(process.stdout);
    return;
  }
  const found = await stat(path).catch(() => undefined);
  if (found) throw new OperatorError(`${printable(path)} exists already. Nothing was changed.`);
  const draft = `${path}.part`;
  // Flushed, as a power cut after the renaming could leave an empty file.
  const output = createWriteStream(draft, { flags: "wx", mode: 0o600, flush: true });
  await once(output, "open").catch((error: NodeJS.ErrnoException) => {
    throw fileError(draft, "written", error);
  });
  try {
    const entries = await write(output);
    await rename(draft, path);
    print(`Wrote ${countEntries(entries)} to ${printable(path)}.\n`);
  } catch (error) {
    output.destroy();
    await rm(draft, { force: true });
    const isOfFile = ["write", "fsync", "rename"].includes((error as NodeJS.ErrnoException).syscall ?? "");
    throw isOfFile ? fileError(path, "written", error as Error) : error;
  }
}
