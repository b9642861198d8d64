// waitlist doctor: checks what the site needs from its environment, and says what to do.
import { Command } from "commander";
import type pg from "pg";
import type { Config } from "../../config/settings.ts";
import { loadConfig } from "../../config/load-config.ts";
import { connectTo, describeFault, withConnection } from "../../database/connect.ts";
import { openDatabase, type OpenedDatabase } from "../../database/open-database.ts";
import type { WorkerTask } from "../../config/database-urls.ts";
import { findWaitlist, pendingMigrations } from "../../database/migrate.ts";
import { findWorker, isQueueEnabled } from "../../database/queue.ts";
import { examineWebRole } from "../../database/web-role.ts";
import { countOld } from "../../models/operators/erasures.ts";
import { countUnconfirmed } from "../../models/operators/unconfirmed.ts";
import { webStatements } from "../../models/waitlist.ts";
import { errorFields, migrateHint, OperatorError, printable } from "../../errors.ts";
import { formatCount, countEntries, lateHint, print, retryHint } from "../command.ts";
import { examineMails, examineMailServer, examinePace, sendTestMail } from "./mail-checks.ts";
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

/** Describes a failed check in one line, with the URL of its connection also what to do. @throws the error if it is a fault of doctor. */
function toProblem(what: string, error: unknown, url?: string): Finding {
  if (error instanceof OperatorError) return problem(what, url ? describeFault(error, url) : error.message);
  const { code } = errorFields(error);
  if (code === undefined) throw error;
  // A missing right, table, function or schema.
  const hint = code.startsWith("42") || code === "3F000" ? migrateHint : "See docs/incident.md, Error codes.";
  return problem(what, `${printable((error as Error).message)} (${code}). ${hint}`);
}

async function attempt(what: string, check: () => Promise<Finding>, url?: string): Promise<Finding> {
  return check().catch((error: unknown) => toProblem(what, error, url));
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
    const checkWebRole = async () => {
      const warning = await examineWebRole(webUrl, config.ALLOW_PRIVILEGED_ROLE);
      return warning ? warn("Web role", warning) : ok("Web role", "cannot read, change or delete entries");
    };
    yield await attempt("Web role", checkWebRole, webUrl);
    if (!isUpToDate) return;
    yield* examineWorker(owner, config, worker?.tasks ?? []);
    if (config.MAIL_FROM) yield await attempt("Confirmations", () => examinePace(owner, config));
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
  const check = async () => {
    await withConnection(url, async (client) => {
      for (const statement of statements) await client.query(statement);
    });
    return ok(name, statements.length > 0 ? "can log in and store sign-ups" : "can log in");
  };
  return attempt(name, check, url);
}

const noWorker =
  "none runs: mails and webhooks wait, old and unconfirmed entries stay. Its log says why. With docker compose, add worker to COMPOSE_PROFILES in .env, then: docker compose up -d; otherwise npm run worker, or in the image node dist/server/worker.js.";

async function* examineWorker(owner: pg.Client, config: Config, tasks: WorkerTask[]): AsyncGenerator<Finding> {
  const role = await findWorker(owner);
  if (role) yield ok("Worker", `runs as the role "${printable(role)}"`);
  else if (tasks.length > 0) yield warn("Worker", noWorker);
  for (const [task, what, check] of [
    ["webhook", "Webhooks", examineWebhooks],
    ["mail", "Confirmation mails", examineMails],
  ] as const) {
    const isWanted = tasks.includes(task);
    const isEnabled = await isQueueEnabled(owner, task);
    if (isWanted && isEnabled) yield await attempt(what, () => check(owner));
    else if (isWanted) yield problem(what, `sign-ups add no jobs. ${migrateHint}`);
    else if (isEnabled) yield warn(what, `sign-ups add jobs, but the task is not configured here. ${migrateHint}`);
    if (isWanted && isEnabled && task === "mail") yield await attempt("Mailings", () => examineMailings(owner));
  }
  if (tasks.includes("purge")) yield await attempt(deletion, () => examineDeletion(owner, config));
}

async function examineWebhooks(owner: pg.Client): Promise<Finding> {
  const { rows } = await owner.query(
    `SELECT count(*) FILTER (WHERE attempts < max_attempts)::int AS queued,
       count(*) FILTER (WHERE attempts >= max_attempts)::int AS "givenUp",
       count(last_error)::int AS failed, mode() WITHIN GROUP (ORDER BY last_error) AS error,
       bool_or(last_error IS NOT NULL AND created_at < now() - interval '1 hour') AS "isFailing",
       bool_or(attempts < max_attempts AND run_at < now() - interval '1 hour') AS "isLate"
     FROM graphile_worker.jobs WHERE task_identifier = 'webhook'`,
  );
  const { queued, givenUp, failed, error, isFailing, isLate } = rows[0];
  const sentences = [
    `queued ${formatCount(queued)}, given up ${formatCount(givenUp)}`,
    isLate && lateHint,
    failed > 0 && `Failed ${formatCount(failed)}, most with: ${printable(error)}. ${retryHint}`,
  ].filter(Boolean);
  return (isFailing || isLate ? warn : ok)("Webhooks", sentences.join(". "));
}

const deletion = "Deletion of old entries";

/** In days past the limit of an entry, because the worker deletes once a day. */
const daysUntilUndeleted = 2;

async function examineDeletion(owner: pg.Client, config: Config): Promise<Finding> {
  const { RETENTION_MONTHS: months, UNCONFIRMED_DAYS: days } = config;
  const old = await countOld(owner, months, daysUntilUndeleted);
  const unconfirmed = days > 0 ? await countUnconfirmed(owner, days + daysUntilUndeleted) : 0;
  if (old + unconfirmed === 0) return ok(deletion, "no entry is two days past its limit");
  return warn(
    deletion,
    `${countEntries(old + unconfirmed)} two days past RETENTION_MONTHS or UNCONFIRMED_DAYS. The worker deletes at 03:17 UTC. If they stay, set both for it as here, start it again, and see its log.`,
  );
}

/** An empty list that is young shows that this is not the database which the operator means. */
async function examineEntries(owner: pg.Client): Promise<Finding> {
  const { rows } = await owner.query(
    "SELECT count(*)::int AS entries, to_char(min(created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS oldest FROM public.earlyaccess",
  );
  const { entries, oldest } = rows[0];
  return ok("Entries", oldest ? `${formatCount(entries)}, the oldest of ${oldest}` : "none");
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
