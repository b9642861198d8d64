// The folder that holds prisma/schema.prisma, for the sources and the bundle alike.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

function find(folder: string): string {
  if (folder === dirname(folder)) throw new Error("No folder above the server's code holds prisma/schema.prisma");
  return existsSync(join(folder, "prisma", "schema.prisma")) ? folder : find(dirname(folder));
}

export const projectRoot = find(dirname(fileURLToPath(import.meta.url)));
