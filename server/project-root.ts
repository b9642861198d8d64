// Finds the folder that holds package.json, from the sources and from the bundle alike.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

function find(folder: string): string {
  return existsSync(join(folder, "prisma", "schema.prisma")) ? folder : find(dirname(folder));
}

export const projectRoot = find(dirname(fileURLToPath(import.meta.url)));
