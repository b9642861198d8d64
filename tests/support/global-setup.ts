// Before all tests that need them: finds a browser, starts a real Postgres, and migrates the databases that tests copy.
import type { TestProject } from "vitest/node";
import { migrate } from "../../server/database/migrate.ts";
import type { DatabaseSettings, WorkerTask } from "../../server/config/database-urls.ts";
import { findChromium, type Chromium } from "./chromium.ts";
import { createDatabase, queryAs, startPostgres } from "./postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The superuser's URL, with which tests create databases of their own. */
    superuserUrl: string;
    templates: Record<Template, DatabaseSettings>;
    chromium: Chromium;
  }
}

/** The tasks of each template's worker. "site" has no worker, and "mail" has the hashes of erased addresses. */
const tasks = { site: [], mail: ["mail"], webhook: ["webhook"] } satisfies Record<string, WorkerTask[]>;
export type Template = keyof typeof tasks;

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (project.vitest.projects.every(({ name }) => name === "unit")) return undefined;
  if (process.platform !== "linux") {
    process.stdout.write("The tests that need Linux are left out.\n");
  }
  const browser = await findChromium().catch((error: Error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(1); // Vitest itself would report that it found no tests.
  });
  project.provide("chromium", browser);
  const postgres = await startPostgres();
  const { superuserUrl } = postgres;
  // A crash may cost this Postgres its data, and its passwords need no strength.
  const fast = ["fsync = off", "synchronous_commit = off", "full_page_writes = off", "scram_iterations = 1"];
  // Statistics that depend on the moment would make plans depend on it.
  for (const setting of [...fast, "autovacuum = off", "timezone = 'Pacific/Chatham'"]) {
    await queryAs(superuserUrl, `ALTER SYSTEM SET ${setting}`);
  }
  await queryAs(superuserUrl, "SELECT pg_reload_conf()");
  project.provide("superuserUrl", superuserUrl);
  const create = (name: Template) => createTemplate(superuserUrl, name);
  const site = await create("site");
  project.provide("templates", { site, mail: await create("mail"), webhook: await create("webhook") });
  return () => postgres.release();
}

async function createTemplate(superuserUrl: string, name: Template): Promise<DatabaseSettings> {
  const { workerUrl, ...database } = await createDatabase(superuserUrl, `template_${name}`);
  const urls: DatabaseSettings = {
    ...database,
    ...(tasks[name].length > 0 && { worker: { url: workerUrl, tasks: tasks[name] } }),
  };
  await migrate(urls);
  return urls;
}
