// Which database the site uses, with which roles, and for which tasks of the worker.
import { join } from "node:path";
import type { Config } from "../config/settings.ts";
import { loadConfig } from "../config/load-config.ts";
import { projectRoot } from "../project-root.ts";
import { openEmbedded } from "./embedded/embedded.ts";

/** The worker's tasks, under the names that their jobs have in the queue. */
export const workerTasks = ["webhook", "mail", "purge"] as const;
export type WorkerTask = (typeof workerTasks)[number];

export interface DatabaseSettings {
  ownerUrl: string;
  webUrl: string;
  /** Undefined if there are no admins. */
  adminUrl?: string | undefined;
  worker?: { url: string; tasks: WorkerTask[] } | undefined;
  erasureKey?: string | undefined;
}

export interface OpenedDatabase extends DatabaseSettings {
  /** Where the embedded Postgres keeps its data. */
  directory?: string;
  release(): Promise<void>;
}

/** @param mayCreate false throws if there is neither a DATABASE_URL nor an embedded Postgres. */
export async function openDatabase(config: Config, mayCreate = true): Promise<OpenedDatabase> {
  const { databaseUrl: webUrl, databaseOwnerUrl: ownerUrl, databaseAdminUrl: adminUrl, erasureKey } = config;
  const opened: OpenedDatabase = webUrl
    ? { webUrl, ownerUrl: ownerUrl ?? webUrl, adminUrl, release: async () => undefined }
    : await openEmbedded(join(projectRoot, ".data"), mayCreate);
  const wanted = { webhook: config.webhookUrl, mail: config.mailFrom, purge: config.retentionMonths > 0 };
  const tasks = workerTasks.filter((task) => wanted[task]);
  const worker = tasks.length > 0 ? { url: config.workerDatabaseUrl ?? opened.ownerUrl, tasks } : undefined;
  return { ...opened, worker, erasureKey };
}

export async function withDatabase(work: (database: OpenedDatabase, config: Config) => Promise<void>): Promise<void> {
  const config = loadConfig();
  const database = await openDatabase(config);
  try {
    await work(database, config);
  } finally {
    await database.release();
  }
}
