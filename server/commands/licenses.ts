// npm run licenses: the shipped packages and their licences, from the lists that the build writes beside the bundles.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { printableLines } from "../operator-messages.ts";
import { projectRoot } from "../project-root.ts";
import { print } from "./print.ts";

/** Licences that require at most their own text, which ships as licenses.txt. */
const permissive = new Set([
  "MIT",
  "MIT-0",
  "ISC",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "0BSD",
  "OFL-1.1",
  "Unlicense",
]);

const shipped = (await Promise.all(["client", "server"].map(list))).flat();
shipped.push(["client", "Familjen Grotesk (font), client/brand/familjen-grotesk-OFL.txt", "OFL-1.1"]);
for (const row of shipped) print(`${row.join("  ")}\n`);

const others = shipped.filter(([, , license]) => !permissive.has(license));
if (others.length > 0) {
  const lines = others.map((row) => row.join("  ")).join("\n");
  process.stderr.write(`These licences are not on the list of permitted ones:\n${printableLines(lines)}\n`);
  process.exitCode = 1;
}

async function list(side: string): Promise<[string, string, string][]> {
  const text = await readFile(join(projectRoot, "dist", side, "licenses.txt"), "utf8");
  const headings = text.matchAll(/^## (?<name>.+ - \S+) \((?<license>.+)\)$/gm);
  return Array.from(headings, ({ groups = {} }) => [side, groups.name ?? "", groups.license ?? ""]);
}
