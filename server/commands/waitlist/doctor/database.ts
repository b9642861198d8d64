// The doctor's checks of the database: versions, objects, roles, rights, durability and time.
import type pg from "pg";
import { connectTo } from "../../../database/client.ts";
import { mayMigrate } from "../../../database/migrate.ts";
import { compareMigrations } from "../../../database/migrations.ts";
import type { Config } from "../../../config.ts";
import type { OpenedDatabase } from "../../../database/open.ts";
import { readRole } from "../../../database/roles/site-roles.ts";
import { OperatorError, listNames, printableName } from "../../../operator-messages.ts";
import { examineBackups } from "./backups.ts";
import { examineErasures } from "./erasures.ts";
import type { Finding } from "./finding.ts";
import { examineImports } from "./imports.ts";
import { examineObjects } from "./objects.ts";
import { examineOutbox } from "./outbox.ts";
import { examineRoles } from "./roles.ts";
import { migrateHint } from "../owner.ts";

export async function* examineDatabase(urls: OpenedDatabase, { allowPrivilegedRole }: Config): AsyncGenerator<Finding> {
  const { ownerUrl, webUrl, adminUrl, worker } = urls;
  const owner = yield* connectAs("DATABASE_OWNER_URL", ownerUrl);
  const web = yield* connectAs("DATABASE_URL", webUrl);
  try {
    const isOwner = owner !== undefined && (await mayMigrate(owner));
    if (owner) {
      yield await examineVersion(owner);
      const migrations = await examineMigrations(owner, readRole(ownerUrl).name, isOwner);
      yield migrations;
      // Without its table and column, the query for imports fails.
      if (migrations.verdict === "ok" && (yield* examineObjects(owner))) yield await examineImports(owner);
      yield await examineClock(owner);
      if (isOwner) yield* examineErasures(owner, urls.erasureKey);
      if (isOwner) yield* examineBackups(owner);
    }
    const either = owner ?? web;
    if (either) yield* examineRoles(either, urls, allowPrivilegedRole);
    if (adminUrl) await (yield* connectAs("DATABASE_ADMIN_URL", adminUrl))?.end();
    if (worker && worker.url !== ownerUrl) await (yield* connectAs("NOTIFY_DATABASE_URL", worker.url))?.end();
    if (isOwner) yield* examineOutbox(owner, worker?.tasks ?? []);
    // What counts is what the web process gets: a role may have settings of its own.
    if (web) yield* examineDurability(web);
    if (owner && web) yield await examineSameness(owner, web);
  } finally {
    await owner?.end();
    await web?.end();
  }
}

async function* connectAs(variable: string, url: string): AsyncGenerator<Finding, pg.Client | undefined> {
  try {
    const client = await connectTo(url);
    const { host, username } = new URL(url);
    yield {
      verdict: "ok",
      what: variable,
      text: `${printableName(decodeURIComponent(username))} at ${host} is let in`,
    };
    return client;
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    const hint = variable === "DATABASE_OWNER_URL" ? "" : " Migrating makes a role that is missing.";
    yield { verdict: "problem", what: variable, text: `${error.message}${hint}` };
    return undefined;
  }
}

async function examineVersion(owner: pg.Client): Promise<Finding> {
  const { rows } = await owner.query("SELECT current_setting('server_version_num')::int / 10000 AS version");
  const version = rows[0].version as number;
  const what = "Postgres";
  if (version < 14) return { verdict: "problem", what, text: `version ${version} is too old; 14 to 18 are supported.` };
  if (version > 18)
    return { verdict: "warning", what, text: `version ${version} is newer than what was tested, 14 to 18.` };
  return { verdict: "ok", what, text: `version ${version}` };
}

async function examineMigrations(owner: pg.Client, ownerRole: string, isOwner: boolean): Promise<Finding> {
  const what = "Migrations";
  if (!isOwner) {
    const text = `"${ownerRole}" may not migrate. Set DATABASE_OWNER_URL to the owner's connection.`;
    return { verdict: "problem", what, text };
  }
  try {
    const { pending, changed } = await compareMigrations(owner);
    if (pending.length > 0) return { verdict: "problem", what, text: `the database is not up to date. ${migrateHint}` };
    if (changed.length === 0) return { verdict: "ok", what, text: "all applied" };
    const text = `the file of ${listNames(changed)} is not the one that was applied. Restore it from this version of the site.`;
    return { verdict: "problem", what, text };
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return { verdict: "problem", what, text: error.message };
  }
}

async function* examineDurability(web: pg.Client): AsyncGenerator<Finding> {
  const risks = {
    fsync: "the whole database",
    full_page_writes: "the whole database",
    synchronous_commit: "sign-ups that were told that they are stored",
  };
  const { rows } = await web.query<{ name: string; setting: string }>(
    "SELECT name, current_setting(name) AS setting FROM unnest($1::text[]) AS name",
    [Object.keys(risks)],
  );
  const off = rows.filter(({ setting }) => setting === "off").map(({ name }) => name as keyof typeof risks);
  for (const name of off) {
    yield {
      verdict: "problem",
      what: name,
      text: `is off: a power cut may cost ${risks[name]}. Set it to on in Postgres.`,
    };
  }
  if (off.length === 0) {
    yield { verdict: "ok", what: "Durability", text: rows.map(({ name, setting }) => `${name} ${setting}`).join(", ") };
  }
}

const clockWarningMs = 1_000;
const clockProblemMs = 60_000;

async function examineClock(owner: pg.Client): Promise<Finding> {
  const asked = Date.now();
  const { rows } = await owner.query("SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now");
  const answered = Date.now();
  // Postgres read its clock at some time during the round trip, so half of the round trip is uncertain.
  const difference = Math.abs((rows[0].now as number) - (asked + answered) / 2) - (answered - asked) / 2;
  const seconds = (Math.max(0, difference) / 1000).toFixed(1);
  const text = `this machine's and that of Postgres are ${seconds} s apart`;
  if (difference < clockWarningMs) return { verdict: "ok", what: "Clocks", text };
  const verdict = difference < clockProblemMs ? "warning" : "problem";
  return { verdict, what: "Clocks", text: `${text}. Let both be set by NTP.` };
}

async function examineSameness(owner: pg.Client, web: pg.Client): Promise<Finding> {
  const sql =
    "SELECT oid, pg_postmaster_start_time()::text AS started FROM pg_database WHERE datname = current_database()";
  const [one, other] = await Promise.all([owner.query(sql), web.query(sql)]);
  const what = "Both connections";
  if (JSON.stringify(one.rows) === JSON.stringify(other.rows))
    return { verdict: "ok", what, text: "lead to one database" };
  return { verdict: "problem", what, text: "lead to different databases. Correct DATABASE_URL or DATABASE_OWNER_URL." };
}
