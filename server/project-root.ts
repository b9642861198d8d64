// Finds the folder that holds package.json, from the sources and from the bundle alike.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

function find(folder: string): string {
  if (folder === dirname(folder)) throw new Error("prisma/schema.prisma lies in no folder above the server's code");
  return existsSync(join(folder, "prisma", "schema.prisma")) ? folder : find(dirname(folder));
}

export const projectRoot = find(dirname(fileURLToPath(import.meta.url)));
