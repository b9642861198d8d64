// The lists that export and invite write, to stdout or to a file, and the errors of files.
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import type { Writable } from "node:stream";
import { OperatorError, printable } from "../../errors.ts";
import { formatCount, countEntries, print } from "../command.ts";

/**
 * Writes to stdout, or to a new file that only this user can read, complete or absent. Opens the file before the work: nothing
 * changes if it exists or cannot be created.
 */
export async function writeList(path = "-", write: (output: Writable) => Promise<number>): Promise<void> {
  if (path === "-") {
    await write(process.stdout);
    return;
  }
  const found = await stat(path).catch(() => undefined);
  if (found) throw new OperatorError(`${printable(path)} exists already. Nothing was changed.`);
  const draft = `${path}.part`;
  // Flush it: otherwise, a power cut after the renaming could leave an empty file.
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

export function countNames(names: string[]): string {
  return names.length > 0 ? `${formatCount(names.length)} (${listNames(names)})` : "0";
}

export function listNames(names: string[]): string {
  const more = names.length > 20 ? ` and ${names.length - 20} more` : "";
  return names.slice(0, 20).map(printable).join(", ") + more;
}

/** A container has none of the operator's files. */
export function fileError(path: string, verb: "read" | "written", { code }: NodeJS.ErrnoException): OperatorError {
  const ofContainer =
    verb === "read"
      ? " To read a file in a container, give it by stdin: docker compose run --rm -T waitlist … - < FILE"
      : " To write a file from a container, redirect stdout: docker compose run --rm -T waitlist … > FILE";
  const hints: Record<string, string> = {
    ENOENT: ofContainer,
    EROFS: ofContainer,
    EACCES: ofContainer,
    EEXIST: " Another command writes it, or one was killed: then remove it.",
  };
  return new OperatorError(`${printable(path)} cannot be ${verb}: ${code}.${hints[code ?? ""] ?? ""}`);
}
