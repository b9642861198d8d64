// waitlist doctor: checks what the site needs from its environment, and says what to do.
import type pg from "pg";
import { loadConfig, type Config } from "../../config.ts";
import { connectTo, openDatabase, type OpenedDatabase } from "../../database/connect.ts";
import { requireErasureKey } from "../../database/erasure-key.ts";
import { mayMigrate, pendingMigrations } from "../../database/migrate.ts";
import { isQueueEnabled, workerLock } from "../../database/queue.ts";
import { examineWebRole, type WorkerTask } from "../../database/roles.ts";
import { OperatorError, printable } from "../../operator-messages.ts";
import { count, print } from "../command.ts";
import type { Command } from "./arguments.ts";
import { migrateHint } from "./owner.ts";

/** `text` says what was found, and what to do unless it is ok. */
type Finding = [verdict: "ok" | "warning" | "problem", what: string, text: string];

const ok = (what: string, text: string): Finding => ["ok", what, text];
const warn = (what: string, text: string): Finding => ["warning", what, text];
const problem = (what: string, text: string): Finding => ["problem", what, text];

export const doctor: Command = {
  summary: "checks settings, database, roles, worker, backup, Redis and mail server, and says what to do",
  details: "Changes nothing, and prints no password. The exit code is 1 if there is a problem.",
  positionals: [],
  options: { strict: { description: "exit with 1 after a warning, too" } },
  run: async ({ has }) => {
    const accepted = has("strict") ? ["ok"] : ["ok", "warning"];
    for await (const [verdict, what, text] of examine()) {
      if (!accepted.includes(verdict)) process.exitCode = 1;
      print(`${verdict.padEnd(8)} ${what}: ${text.replaceAll("\n", "\n         ")}\n`);
    }
  },
};

async function* examine(): AsyncGenerator<Finding> {
  let what = "Settings";
  try {
    const config = loadConfig();
    yield ok(what, "every setting can be read");
    yield* examineSite(config);
    if (config.redisUrl) yield await examineRedis(config.redisUrl);
    if (config.smtpUrl) yield await examineMailServer(config.smtpUrl, config);
    what = "Database";
    const database = await openDatabase(config);
    try {
      yield* examineDatabase(database, config);
    } finally {
      await database.release();
    }
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    yield problem(what, error.message);
  }
}

function* examineSite({ publicUrl, trustProxy, controller, contactEmail }: Config): Generator<Finding> {
  if (!publicUrl?.startsWith("https:")) return;
  const missing = [controller ? [] : "CONTROLLER", contactEmail ? [] : "CONTACT_EMAIL"].flat().join(" and ");
  if (trustProxy === 0) yield warn("Proxy", "set TRUST_PROXY=1, or all visitors share the limit of their proxy.");
  if (missing) yield warn("Privacy", `the page /privacy does not say who is responsible: set ${missing}.`);
}

async function* examineDatabase(database: OpenedDatabase, config: Config): AsyncGenerator<Finding> {
  const { webUrl, adminUrl, worker, ownerUrl, erasureKey } = database;
  const others = { DATABASE_URL: webUrl, DATABASE_ADMIN_URL: adminUrl, WORKER_DATABASE_URL: worker?.url };
  for (const [name, url] of Object.entries(others)) {
    if (url && url !== ownerUrl) yield await examineConnection(name, url);
  }
  const owner = await connectTo(ownerUrl);
  try {
    const isOwner = await mayMigrate(owner);
    const isUpToDate = isOwner && (await pendingMigrations(owner)).length === 0;
    if (isUpToDate) yield ok("Migrations", "all applied");
    else if (isOwner) yield problem("Migrations", `the database is not up to date. ${migrateHint}`);
    else yield problem("Migrations", "DATABASE_OWNER_URL does not name the owner of the waitlist.");
    const { isPrivileged, warning } = await examineWebRole(owner, database);
    const judge = isPrivileged && config.allowPrivilegedRole ? warn : problem;
    yield warning ? judge("Web role", warning) : ok("Web role", "cannot read, change or delete entries");
    if (!isUpToDate) return;
    const missing = await missingColumns(owner);
    if (missing) yield problem("Columns", `earlyaccess lacks ${missing}. Undo a renaming, or restore a backup.`);
    yield* examineWorker(owner, worker?.tasks ?? []);
    yield await examineBackup(owner);
    yield ok("Erasures", (await requireErasureKey(owner, erasureKey)) ? "the key is right" : "no addresses are kept");
  } finally {
    await owner.end();
  }
}

/** Returns their names, or null if there are none. */
async function missingColumns(owner: pg.Client): Promise<string | null> {
  const { Prisma } = await import("../../database/generated/browser.ts");
  const { rows } = await owner.query(
    `SELECT string_agg(name, ', ') AS missing FROM unnest($1::text[]) AS name
     WHERE name NOT IN (SELECT attname FROM pg_attribute WHERE attrelid = to_regclass('public.earlyaccess'))`,
    [Object.keys(Prisma.WaitlistEntryScalarFieldEnum)],
  );
  return rows[0].missing as string | null;
}

async function examineConnection(name: string, url: string): Promise<Finding> {
  try {
    await (await connectTo(url)).end();
    return ok(name, "can log in");
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    const hint = " Migrating creates a missing role, and changes no password.";
    return problem(name, error.name === "ConnectionError" ? error.message : error.message + hint);
  }
}

const noWorker =
  "none runs: mails and webhooks wait, old entries stay. Its log says why. With docker compose, add worker to COMPOSE_PROFILES in .env, then: docker compose up -d; otherwise npm run worker, or node dist/server/worker.js in the image.";

async function* examineWorker(owner: pg.Client, tasks: WorkerTask[]): AsyncGenerator<Finding> {
  if (await isWorkerRunning(owner)) yield ok("Worker", "runs");
  else if (tasks.length > 0) yield warn("Worker", noWorker);
  for (const [task, what] of [
    ["webhook", "Webhooks"],
    ["mail", "Confirmation mails"],
  ] as const) {
    const isWanted = tasks.includes(task);
    const isEnabled = await isQueueEnabled(owner, task);
    if (isWanted && isEnabled) yield await examineJobs(owner, task, what);
    else if (isWanted) yield problem(what, `sign-ups add no jobs. ${migrateHint}`);
    else if (isEnabled) yield warn(what, `sign-ups add jobs, but the task is not configured here. ${migrateHint}`);
  }
  const { rows } = await owner.query("SELECT to_regclass('graphile_worker.jobs') IS NOT NULL AS found");
  if (tasks.includes("purge") && rows[0].found) yield await examineJobs(owner, "purge", "Deletion of old entries");
}

async function isWorkerRunning(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query(
    `SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objid = $1
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [workerLock],
  );
  return rows.length > 0;
}

async function examineJobs(owner: pg.Client, task: WorkerTask, what: string): Promise<Finding> {
  // A mail may wait until the next day; it does so without an attempt. A worker that runs empties the queue within a second.
  const { rows } = await owner.query(
    `SELECT count(*) FILTER (WHERE attempts < max_attempts)::int AS waiting,
            count(*) FILTER (WHERE attempts >= max_attempts)::int AS lost,
            bool_or(attempts < max_attempts AND created_at < now() - interval '1 minute' AND (attempts > 0 OR run_at <= now())) AS late,
            (array_agg(last_error ORDER BY updated_at DESC) FILTER (WHERE last_error IS NOT NULL))[1] AS error,
            (SELECT to_char(max(mailed_at), 'YYYY-MM-DD HH24:MI TZ') FROM public.earlyaccess) AS mailed
     FROM graphile_worker.jobs WHERE task_identifier = $1`,
    [task],
  );
  const { waiting, lost, late, error, mailed } = rows[0];
  const latest = task === "mail" && mailed ? `; the latest was sent at ${mailed}` : "";
  const state = `jobs that wait: ${count(waiting)}, that were given up after 25 attempts: ${count(lost)}${latest}`;
  if (!late && lost === 0) return ok(what, state);
  return warn(what, `${state}.${error ? ` The latest error: ${printable(error)}.` : ""}`);
}

async function examineBackup(owner: pg.Client): Promise<Finding> {
  const { rows } = await owner.query(
    "SELECT max(finished_at) < now() - interval '2 days' AS late, to_char(max(finished_at), 'YYYY-MM-DD HH24:MI TZ') AS latest FROM public.earlyaccess_backups",
  );
  const { late, latest } = rows[0];
  if (late) return warn("Backup", `the latest good one is of ${latest}. See what failed: docker compose logs backup`);
  return ok("Backup", latest ? `the latest good one is of ${latest}` : "none by the Compose profile backup");
}

async function examineRedis(url: string): Promise<Finding> {
  const { Redis } = await import("ioredis"); // Half a megabyte that most sites do not need.
  const redis = new Redis(url, { lazyConnect: true, connectTimeout: 3_000, retryStrategy: () => null });
  let reason: NodeJS.ErrnoException | undefined;
  redis.on("error", (error) => (reason ??= error));
  try {
    await redis.connect();
    return ok("Redis", "answers");
  } catch (error) {
    // Redis' own errors begin with a word for their kind, such as WRONGPASS. The rest may quote the password.
    const { code, message, name } = reason ?? (error as NodeJS.ErrnoException);
    const why = code ?? /^[A-Z]{4,}\b/.exec(message)?.[0] ?? name;
    return problem("Redis", `cannot be used (${why}): no limit per client. Start it, or correct REDIS_URL.`);
  } finally {
    redis.disconnect();
  }
}

async function examineMailServer(url: string, { publicUrl = "" }: Config): Promise<Finding> {
  const { MailError, verifyMailServer } = await import("../../worker/mail-server.ts"); // nodemailer
  try {
    await verifyMailServer({ url, client: new URL(publicUrl).hostname });
    return ok("Mail server", "accepts connections");
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    const hint = "Correct SMTP_URL; for an authority of your own set NODE_EXTRA_CA_CERTS=/path/ca.pem.";
    return problem("Mail server", `${error.message}. Mails wait. ${hint}`);
  }
}
