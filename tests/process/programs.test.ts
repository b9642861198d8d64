// Each built program from a folder with what the image copies, with its own URL of the database alone, as docs/configuration.md says.
import { cp, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { freePort } from "../../server/database/embedded/free-port.ts";
import type { DatabaseUrlName } from "../../server/config/database-urls.ts";
import { projectRoot } from "../../server/config/project-root.ts";
import { createEmptyDatabase } from "../support/database.ts";
import { runSite, until } from "../support/run.ts";

const database = await createEmptyDatabase();
const folder = await mkdtemp(join(tmpdir(), "perennial-programs-"));
afterAll(() => rm(folder, { recursive: true }));
const [, runtime = ""] = (await readFile(join(projectRoot, "Dockerfile"), "utf8")).split("AS runtime");
for (const [, part = ""] of runtime.matchAll(/^COPY (?:--from=build \/app\/|--chmod=755 )(?!server)(\S+) \.\/\S*$/gm)) {
  await cp(join(projectRoot, part), join(folder, part), { recursive: true });
}

const urls: Record<DatabaseUrlName, string> = {
  DATABASE_URL: database.webUrl,
  DATABASE_OWNER_URL: database.ownerUrl,
  DATABASE_ADMIN_URL: database.adminRoleUrl,
  WORKER_DATABASE_URL: database.workerUrl,
};
const webhook = { WEBHOOK_URL: "http://127.0.0.1:2/hook" };

/** Runs the program until its output matches or it ends, then stops it as Docker does. Returns its exit code. */
async function expectOutput(line: string, env: Record<string, string>, output: RegExp, endsByItself = true) {
  const [, ...args] = line.split(" ");
  const program = runSite({ command: [process.execPath, ...args], cwd: folder, env: { ...env, ...webhook } });
  const shown = () => program.stdout() + program.stderr();
  const hasEnded = () => program.process.exitCode !== null;
  try {
    await until(line, () => hasEnded() || (!endsByItself && output.test(shown())), 50);
    expect(shown()).toMatch(output);
    return hasEnded() ? program.process.exitCode : await program.stop();
  } catch (error) {
    program.process.kill("SIGKILL");
    throw error;
  }
}

it("migrating needs the owner's URL and those of the roles that it creates", async () => {
  const line = "node dist/server/migrate.js";
  expect(await expectOutput(line, { DATABASE_OWNER_URL: database.ownerUrl }, /^DATABASE_URL is not/)).toBe(1);
  expect(await expectOutput(line, urls, /^Applied /)).toBe(0);
});

const programs: [line: string, own: DatabaseUrlName, output: RegExp, endsByItself?: boolean][] = [
  ["node dist/server/index.js", "DATABASE_URL", /"listening"/, false],
  ["node dist/server/waitlist.js stats", "DATABASE_OWNER_URL", /^No views and no sign-ups/],
  ["node dist/server/worker.js", "WORKER_DATABASE_URL", /worker started: webhook/, false],
  [`node dist/server/studio.js --port ${await freePort()}`, "DATABASE_ADMIN_URL", /^Prisma Studio, .*http/, false],
];

it.each(programs)(
  "%s needs %s only, names it if another URL is set, and ends with 0",
  async (line, own, output, endsByItself) => {
    // As in the image, only Studio needs a package: Prisma's CLI.
    if (line.includes("studio")) await symlink(join(projectRoot, "node_modules"), join(folder, "node_modules"));
    const other = own === "DATABASE_ADMIN_URL" ? "DATABASE_OWNER_URL" : "DATABASE_ADMIN_URL";
    const missing = new RegExp(`^${own} is not set\\. Set it, for example ${own}=`, "m");
    expect(await expectOutput(line, { [other]: urls[other] }, missing)).toBe(1);
    expect(await expectOutput(line, { [own]: urls[own] }, output, endsByItself)).toBe(0);
  },
);
