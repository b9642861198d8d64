// What comes from others: its licences, its install scripts, and that the lock file says what exactly it is.
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectRoot } from "../server/project-root.ts";
import { runSite, runSource } from "./support/site.ts";

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

it("ships under licences that were agreed on", async () => {
  const command = runSite({ command: runSource("server/commands/licenses.ts") });
  const [code] = await once(command.process, "close");
  expect([code, command.stderr()]).toEqual([0, ""]);
  expect(command.stdout()).toMatch(/^client {2}react - \S+ {2}MIT$/m);
  expect(command.stdout()).toMatch(/^server {2}@prisma\/client - \S+ {2}Apache-2\.0$/m);
});

it("decided for every package with an install script whether it may run", () => {
  const undecided = locked.filter(
    ([path, { hasInstallScript }]) => hasInstallScript && !(nameOf(path) in allowScripts),
  );
  expect(undecided.map(([path]) => path)).toEqual([]);
});

it("is locked to its content", () => {
  expect(locked.length).toBeGreaterThan(100);
  expect(locked.filter(([, { integrity, link }]) => !integrity && !link).map(([path]) => path)).toEqual([]);
});
