// Which database the site uses, with which roles, and for which tasks of the worker.
import { join } from "node:path";
import type { Config } from "../config/settings.ts";
import { loadConfig } from "../config/load-config.ts";
import {
  databaseUrlNames,
  exampleUrl,
  workerTasks,
  type DatabaseSettings,
  type DatabaseUrlName,
} from "../config/database-urls.ts";
import { OperatorError } from "../errors.ts";
import { projectRoot } from "../config/project-root.ts";

export interface OpenedDatabase extends DatabaseSettings {
  directory?: string; // Of the embedded Postgres.
  release(): Promise<void>;
}

/**
 * Opens the database for a program that connects with the URL `needed` and needs no other. The owner's URL defaults to DATABASE_URL,
 * and the worker's to the owner's. Without any URL, it opens the embedded Postgres, and migrates it.
 * @param mayChange false throws if there is no embedded Postgres yet, and does not migrate it. @throws OperatorError if only other URLs are
 * set.
 */
export async function openDatabase(config: Config, needed: DatabaseUrlName, mayChange = true): Promise<OpenedDatabase> {
  const { DATABASE_URL: webUrl, DATABASE_ADMIN_URL: adminUrl } = config;
  const ownerUrl = config.DATABASE_OWNER_URL ?? webUrl;
  const workerUrl = config.WORKER_DATABASE_URL ?? ownerUrl;
  const given = { ...config, DATABASE_OWNER_URL: ownerUrl, WORKER_DATABASE_URL: workerUrl };
  const url = given[needed];
  if (!url && databaseUrlNames.some((name) => given[name])) {
    throw new OperatorError(`${needed} is not set. Set it, for example ${needed}=${exampleUrl(needed)}`);
  }
  // A URL that is not set is not used either, and gets a value for the type.
  const opened: OpenedDatabase = url
    ? { webUrl: webUrl ?? url, ownerUrl: ownerUrl ?? url, adminUrl, release: async () => undefined }
    : await openEmbedded(mayChange);
  const purge = config.RETENTION_MONTHS > 0 || config.UNCONFIRMED_DAYS > 0;
  const wanted = { webhook: config.WEBHOOK_URL, mail: config.MAIL_FROM, purge };
  const tasks = workerTasks.filter((task) => wanted[task]);
  const worker = tasks.length > 0 ? { url: workerUrl ?? opened.ownerUrl, tasks } : undefined;
  const database = { ...opened, worker };
  if (opened.directory && mayChange) await migrateEmbedded(database);
  return database;
}

// No program that has a URL loads what these import.
async function openEmbedded(mayCreate: boolean): Promise<OpenedDatabase> {
  const embedded = await import("./embedded/embedded.ts");
  return embedded.openEmbedded(join(projectRoot, ".data"), mayCreate);
}

async function migrateEmbedded(database: OpenedDatabase): Promise<void> {
  const { migrate } = await import("./migrate.ts");
  await migrate(database).catch(async (error: unknown) => {
    await database.release();
    throw error;
  });
}

export async function withDatabase(
  needed: DatabaseUrlName,
  work: (database: OpenedDatabase, config: Config) => Promise<void>,
): Promise<void> {
  const config = loadConfig();
  const database = await openDatabase(config, needed);
  try {
    await work(database, config);
  } finally {
    await database.release();
  }
}
