// Finds installed programs.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Debian keeps the programs of Postgres out of PATH. */
const postgresFolder = "/usr/lib/postgresql";

/** Returns the path of the first program that is installed, of the newest Postgres if it is one of its own. @throws if there is none. */
export function findProgram(...names: string[]): string {
  const versions = existsSync(postgresFolder) ? readdirSync(postgresFolder) : [];
  const newest = versions
    .toSorted((a, b) => Number(b) - Number(a))
    .map((version) => join(postgresFolder, version, "bin"));
  const folders = [...newest, ...(process.env.PATH ?? "").split(":")];
  const path = names.flatMap((name) => folders.map((folder) => join(folder, name))).find((file) => existsSync(file));
  if (!path) throw new Error(`This needs ${names.join(" or ")}.`);
  return path;
}
