// The addresses that erase and joined take: arguments, and the lines of a file.
import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { listNames, OperatorError, printable } from "../../errors.ts";
import { count, fileError } from "../command.ts";

/** Reads a file in UTF-8 or, with a byte order mark, UTF-16, as import does. Leaves out blank lines. */
export async function readAddresses(given: string[], path: string | undefined, command: Command): Promise<string[]> {
  if (path === undefined && given.length === 0) command.error("error: name an ADDRESS or --file FILE");
  if (path === undefined) return given;
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw fileError(path, "read", error);
  });
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : "utf-8";
  const lines = new TextDecoder(encoding).decode(bytes).split(/\r\n?|\n/);
  const wrong = lines.findIndex((line) => /[\0\uFFFD]/.test(line)) + 1;
  if (wrong > 0) throw new OperatorError(`${printable(path)} is not UTF-8 at line ${wrong}. Nothing was changed.`);
  return [...given, ...lines.filter((line) => line.trim() !== "")];
}

export function countNames(names: string[]): string {
  return names.length > 0 ? `${count(names.length)} (${listNames(names)})` : "0";
}
