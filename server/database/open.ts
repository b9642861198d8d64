// Opens the database of the configuration: a given one, or the embedded one.
import { join } from "node:path";
import { settings, type Config } from "../config.ts";
import { OperatorError } from "../operator-messages.ts";
import { projectRoot } from "../project-root.ts";
import { openEmbedded } from "./embedded/embedded.ts";
import type { DatabaseUrls } from "./migrate.ts";
import { workerTasks, type WorkerTask } from "./roles/rights.ts";

export interface OpenedDatabase extends DatabaseUrls {
  /** Where the embedded Postgres keeps its data. */
  directory?: string;
  release(): Promise<void>;
}

export async function openDatabase(config: Config): Promise<OpenedDatabase> {
  const opened = await openConfigured(config);
  const tasks = workerTasks.filter((task) => isWanted(task, config));
  return {
    ...opened,
    ...(tasks.length > 0 && { worker: { url: config.notifyDatabaseUrl ?? opened.ownerUrl, tasks } }),
    ...(config.erasureKey && { erasureKey: config.erasureKey }),
  };
}

function isWanted(task: WorkerTask, { notifyWebhookUrl, mailFrom, retentionMonths }: Config): boolean {
  if (task === "announce") return notifyWebhookUrl !== undefined;
  return task === "mail" ? mailFrom !== undefined : retentionMonths > 0;
}

async function openConfigured({
  databaseUrl,
  databaseOwnerUrl,
  databaseAdminUrl: adminUrl,
}: Config): Promise<OpenedDatabase> {
  if (databaseUrl === undefined) return openEmbedded(join(projectRoot, ".data"));
  return {
    webUrl: databaseUrl,
    ownerUrl: databaseOwnerUrl ?? databaseUrl,
    ...(adminUrl ? { adminUrl } : {}),
    release: async () => undefined,
  };
}

/** @throws OperatorError if DATABASE_ADMIN_URL is not set. */
export function requireAdminUrl({ adminUrl }: OpenedDatabase): string {
  if (adminUrl) return adminUrl;
  throw new OperatorError(
    `DATABASE_ADMIN_URL is not set. Set it, for example DATABASE_ADMIN_URL=${settings.DATABASE_ADMIN_URL.example}, and migrate.`,
  );
}
