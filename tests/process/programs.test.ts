// Each built program from a folder with what the image copies, with its own URL of the database alone, as docs/configuration.md says.
import { cp, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { freePort } from "../../server/database/embedded/free-port.ts";
import type { DatabaseUrlName } from "../../server/config/database-urls.ts";
import { projectRoot } from "../../server/project-root.ts";
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

/** Runs the program until its output matches. */
async function expectOutput(line: string, env: Record<string, string>, output: RegExp): Promise<void> {
  const [, ...args] = line.split(" ");
  const program = runSite({ command: [process.execPath, ...args], cwd: folder, env: { ...env, ...webhook } });
  const shown = () => program.stdout() + program.stderr();
  try {
    await until(line, () => output.test(shown()) || program.process.exitCode !== null, 50);
    expect(shown()).toMatch(output);
  } finally {
    await program.stop();
  }
}

it("migrating needs the owner's URL and those of the roles that it creates", async () => {
  const line = "node dist/server/migrate.js";
  await expectOutput(line, { DATABASE_OWNER_URL: database.ownerUrl }, /^DATABASE_URL is not/);
  await expectOutput(line, urls, /^Applied /);
});

const programs: [line: string, own: DatabaseUrlName, output: RegExp][] = [
  ["node dist/server/index.js", "DATABASE_URL", /"listening"/],
  ["node dist/server/waitlist.js stats", "DATABASE_OWNER_URL", /^No views and no sign-ups/],
  ["node dist/server/worker.js", "WORKER_DATABASE_URL", /worker started: webhook/],
  [`node dist/server/studio.js --port ${await freePort()}`, "DATABASE_ADMIN_URL", /^Prisma Studio, .*http/],
];

it.each(programs)("%s needs %s only, and names it if another URL is set", async (line, own, output) => {
  // As in the image, only Studio needs a package: Prisma's CLI.
  if (line.includes("studio")) await symlink(join(projectRoot, "node_modules"), join(folder, "node_modules"));
  const other = own === "DATABASE_ADMIN_URL" ? "DATABASE_OWNER_URL" : "DATABASE_ADMIN_URL";
  const missing = new RegExp(`^${own} is not set\\. Set it, for example ${own}=`, "m");
  await expectOutput(line, { [other]: urls[other] }, missing);
  await expectOutput(line, { [own]: urls[own] }, output);
});
