// waitlist doctor: checks what the site needs from its environment, and says what to do.
import { Command } from "commander";
import type pg from "pg";
import type { Config } from "../../config/settings.ts";
import { loadConfig } from "../../config/load-config.ts";
import { connectTo, withConnection } from "../../database/connect.ts";
import { openDatabase, type OpenedDatabase } from "../../database/open-database.ts";
import type { WorkerTask } from "../../config/database-urls.ts";
import { findWaitlist, pendingMigrations } from "../../database/migrate.ts";
import { findWorker, isQueueEnabled } from "../../database/queue.ts";
import { examineWebRole } from "../../database/web-role.ts";
import { hundredthSql } from "../../models/operators/mail-state.ts";
import { webStatements } from "../../models/waitlist.ts";
import { errorFields, migrateHint, OperatorError, printable } from "../../errors.ts";
import { count, print, retryHint } from "../command.ts";
import { examineConfirmations, examineMailServer, examineUnsent, sendTestMail } from "./mail-checks.ts";
import { examineMailings } from "./mailing-state.ts";
import { examineSite } from "./site-check.ts";
import { formatFinding, ok, problem, warn, type Finding } from "./finding.ts";

export const doctor = new Command("doctor")
  .summary("checks settings, site, database, roles, worker, backup and mail server, and says what to do")
  .description("Changes nothing, and prints no password. The exit code is 1 if there is a problem.")
  .option("--strict", "exit with 1 after a warning, too")
  .option("--mail <ADDRESS>", "only send the confirmation mail there, with links of no entry")
  .action(async ({ strict, mail }: { strict?: boolean; mail?: string }) => {
    const findings = mail === undefined ? examine() : [await sendTestMail(mail)];
    const accepted = strict ? ["ok"] : ["ok", "warning"];
    for await (const finding of findings) {
      if (!accepted.includes(finding[0])) process.exitCode = 1;
      print(formatFinding(finding));
    }
  });

async function* examine(): AsyncGenerator<Finding> {
  let what = "Settings";
  try {
    const config = loadConfig();
    yield ok(what, "every setting can be read");
    yield* examineSettings(config);
    if (config.isProduction) yield* await examineSite(config);
    if (config.SMTP_URL) yield await examineMailServer(config.SMTP_URL, config);
    what = "Database";
    const database = await openDatabase(config, "DATABASE_URL", false);
    try {
      yield* examineDatabase(database, config);
    } finally {
      await database.release();
    }
  } catch (error) {
    yield toProblem(what, error);
  }
}

/** Describes a failed check in one line, so that the other checks still run. @throws the error if it is a fault of doctor. */
function toProblem(what: string, error: unknown): Finding {
  if (error instanceof OperatorError) return problem(what, error.message);
  const { code } = errorFields(error);
  if (code === undefined) throw error;
  // A missing right, table, function or schema.
  const hint = code.startsWith("42") || code === "3F000" ? migrateHint : "See docs/incident.md, Error codes.";
  return problem(what, `${printable((error as Error).message)} (${code}). ${hint}`);
}

async function attempt(what: string, check: () => Promise<Finding>): Promise<Finding> {
  return check().catch((error: unknown) => toProblem(what, error));
}

function* examineSettings(config: Config): Generator<Finding> {
  const isHttps = config.PUBLIC_URL?.startsWith("https:");
  if (isHttps && config.TRUST_PROXY === 0) {
    yield warn("Proxy", "TRUST_PROXY is 0, so all visitors share the limit of their proxy. See docs/deploy.md, Hosts.");
  }
  if (config.isProduction && !config.PUBLIC_URL) {
    yield warn("PUBLIC_URL", "it is not set, so links to the site name http://localhost.");
  }
  if (!(isHttps || config.isProduction) || (config.CONTROLLER && config.CONTACT_EMAIL)) return;
  yield warn("Privacy", "the page /privacy does not say who is responsible: set CONTROLLER and CONTACT_EMAIL.");
}

async function* examineDatabase(database: OpenedDatabase, config: Config): AsyncGenerator<Finding> {
  const { webUrl, adminUrl, worker, ownerUrl } = database;
  yield await examineConnection("DATABASE_URL", webUrl, webStatements);
  const others = { DATABASE_ADMIN_URL: adminUrl, WORKER_DATABASE_URL: worker?.url };
  for (const [name, url] of Object.entries(others)) {
    if (url && url !== ownerUrl) yield await examineConnection(name, url);
  }
  const owner = await connectTo(ownerUrl);
  try {
    const { mayMigrate: isOwner } = await findWaitlist(owner);
    const isUpToDate = isOwner && (await pendingMigrations(owner)).length === 0;
    if (isUpToDate) yield ok("Migrations", "all applied");
    else if (isOwner) yield problem("Migrations", `the database is not up to date. ${migrateHint}`);
    else yield problem("Migrations", "DATABASE_OWNER_URL does not name the owner of the waitlist.");
    yield await attempt("Web role", async () => {
      const warning = await examineWebRole(webUrl, config.ALLOW_PRIVILEGED_ROLE);
      return warning ? warn("Web role", warning) : ok("Web role", "cannot read, change or delete entries");
    });
    if (!isUpToDate) return;
    yield* examineWorker(owner, worker);
    if (config.MAIL_FROM) yield await attempt("Confirmations", () => examineConfirmations(owner, config));
    yield await attempt("Entries", () => examineEntries(owner));
    yield await attempt("Backup", () => examineBackup(owner));
  } finally {
    await owner.end();
  }
}

async function examineConnection(
  name: string,
  url: string,
  statements: (string | pg.QueryConfig)[] = [],
): Promise<Finding> {
  return attempt(name, async () => {
    await withConnection(url, async (client) => {
      for (const statement of statements) await client.query(statement);
    });
    return ok(name, statements.length > 0 ? "can log in and store sign-ups" : "can log in");
  });
}

const noWorker =
  "none runs: mails and webhooks wait, old and unconfirmed entries stay. Its log says why. With docker compose, add worker to COMPOSE_PROFILES in .env, then: docker compose up -d; otherwise npm run worker, or in the image node dist/server/worker.js.";

async function* examineWorker(owner: pg.Client, worker: OpenedDatabase["worker"]): AsyncGenerator<Finding> {
  const tasks = worker?.tasks ?? [];
  const role = await findWorker(owner);
  if (role) yield ok("Worker", `runs as the role "${printable(role)}"`);
  else if (tasks.length > 0) yield warn("Worker", noWorker);
  for (const [task, what] of [
    ["webhook", "Webhooks"],
    ["mail", "Confirmation mails"],
  ] as const) {
    const isWanted = tasks.includes(task);
    const isEnabled = await isQueueEnabled(owner, task);
    if (isWanted && isEnabled) yield await attempt(what, () => examineJobs(owner, task, what));
    else if (isWanted) yield problem(what, `sign-ups add no jobs. ${migrateHint}`);
    else if (isEnabled) yield warn(what, `sign-ups add jobs, but the task is not configured here. ${migrateHint}`);
    if (isWanted && isEnabled && task === "mail") {
      yield await attempt("Unsent mails", () => examineUnsent(owner));
      yield await attempt("Mailings", () => examineMailings(owner));
    }
  }
  if (tasks.includes("purge")) yield await attempt(deletion, () => examineDeletion(owner, role !== undefined));
}

const deletion = "Deletion of old entries";

/** The worker registers a daily run if its own settings want one. It catches up on a missed run as soon as it starts. */
async function examineDeletion(owner: pg.Client, hasWorker: boolean): Promise<Finding> {
  const { rowCount } = await owner.query(
    `SELECT FROM graphile_worker._private_known_crontabs
     WHERE identifier = 'purge' AND coalesce(last_execution, known_since) > now() - interval '2 days'`,
  );
  if (!hasWorker || rowCount === 1) return examineJobs(owner, "purge", deletion);
  return warn(
    deletion,
    "the worker does not delete. Set RETENTION_MONTHS and UNCONFIRMED_DAYS for it as here, and start it again.",
  );
}

const waitsSql = "attempts < max_attempts";

/** The job that is due for the longest time; a mail that must wait until the next day counts only from then. */
const oldestDueSql = `min(CASE WHEN attempts = 0 THEN run_at ELSE created_at END)
  FILTER (WHERE attempts = 0 OR task_identifier = 'purge')`;

/** The oldest that failed and waits, but for two and 1 % of the sign-ups of four days, no backlog: full mailboxes fail for so long. */
const oldestFailingSql = `(array_agg(created_at ORDER BY created_at) FILTER (WHERE attempts > 0 AND ${waitsSql}))[3 + ${hundredthSql(4)}]`;

async function examineJobs(owner: pg.Client, task: WorkerTask, what: string): Promise<Finding> {
  const { rows } = await owner.query(
    `SELECT count(*) FILTER (WHERE ${waitsSql})::int AS waiting,
            count(*) FILTER (WHERE NOT ${waitsSql})::int AS lost,
            least(${oldestDueSql}, ${oldestFailingSql}) < now() - interval '1 hour' AS late,
            (array_agg(last_error ORDER BY updated_at DESC) FILTER (WHERE last_error IS NOT NULL))[1] AS error
     FROM graphile_worker.jobs WHERE task_identifier = $1`,
    [task],
  );
  const { waiting, lost, late, error } = rows[0];
  const state = `jobs that wait: ${count(waiting)}, that were given up after 25 attempts: ${count(lost)}`;
  if (!late && lost === 0) return ok(what, state);
  return warn(
    what,
    `${state}.${error ? ` The latest error: ${printable(error)}.` : ""} ${lost > 0 ? retryHint : ""}`.trim(),
  );
}

/** An empty list that is young shows that this is not the database which the operator means. */
async function examineEntries(owner: pg.Client): Promise<Finding> {
  const { rows } = await owner.query(
    "SELECT count(*)::int AS entries, to_char(min(created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS oldest FROM public.earlyaccess",
  );
  const { entries, oldest } = rows[0];
  return ok("Entries", oldest ? `${count(entries)}, the oldest of ${oldest}` : "none");
}

/** As in the health check of the service backup. */
export const daysUntilLate = 2;

async function examineBackup(owner: pg.Client): Promise<Finding> {
  const { rows } = await owner.query(
    `SELECT max(finished_at) < now() - interval '${daysUntilLate} days' AS late, to_char(max(finished_at), 'YYYY-MM-DD HH24:MI TZ') AS latest
     FROM public.earlyaccess_backups`,
  );
  const { late, latest } = rows[0];
  if (late) return warn("Backup", `the latest good one is of ${latest}. See what failed: docker compose logs backup`);
  return ok("Backup", latest ? `the latest good one is of ${latest}` : "none by the Compose profile backup");
}
