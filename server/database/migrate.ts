// Brings a database up to date. Prisma's schema engine would take 5.2 MB of the image, and leave the record of a failed migration.
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Logger } from "pino";
import { readRole } from "../config/database-urls.ts";
import { errorFields, migrateHint, OperatorError } from "../errors.ts";
import { projectRoot } from "../project-root.ts";
import { begin, commit, readLogins, withConnection } from "./connect.ts";
import { storeKeyHash } from "./erasure-key.ts";
import { createQueue, enableQueue } from "./queue.ts";
import { createRoles, examineWebRole, grantRights, resetSettings } from "./roles.ts";
import type { DatabaseSettings } from "./settings.ts";

const migrationsFolder = join(projectRoot, "prisma/migrations");

/** The advisory lock that `prisma migrate deploy` holds while it applies migrations. */
const migrationLock = 72_707_369;

/**
 * Applies missing migrations, creates the roles that the settings name, and sets their rights; safe to repeat and to run from
 * several processes at once. If ownerUrl's role may not migrate, it changes nothing, and `applied` is undefined: the owner
 * migrates elsewhere. It always has a transaction open: see docs/decisions/0036-poolers.md.
 * @param allowPrivilegedRole false refuses a web role that is a superuser or the owner, before it changes anything.
 */
export async function migrate(given: DatabaseSettings, allowPrivilegedRole = true) {
  const work = async (owner: pg.Client) => {
    await requireUtf8(owner);
    const { found, mayMigrate } = await findWaitlist(owner);
    const fault = `"${readRole(given.ownerUrl).name}" may not migrate.`;
    if (!found && !mayMigrate)
      throw new OperatorError(`The table public.earlyaccess does not exist, and ${fault} ${migrateHint}`);
    const settings = await readLogins(owner, given);
    const webRole = readRole(settings.webUrl).name;
    const { isPrivileged, warning } = await examineWebRole(owner, webRole);
    if (isPrivileged && !allowPrivilegedRole) {
      throw new OperatorError(`${warning}\nTo start all the same, set ALLOW_PRIVILEGED_ROLE=true.`);
    }
    if (!mayMigrate) {
      await owner.query("COMMIT");
      const other = given.ownerUrl === given.webUrl ? "" : `${fault} Name the owner in DATABASE_OWNER_URL.`;
      return { applied: undefined, warnings: [warning, other].filter(Boolean) };
    }
    const applied = await bringUpToDate(owner, settings, webRole);
    const after = await examineWebRole(owner, webRole);
    await owner.query("COMMIT");
    return { applied, warnings: [after.warning].filter(Boolean) };
  };
  return withConnection(given.ownerUrl, work, begin).catch((error: pg.DatabaseError) => {
    if (error.code !== "55P03") throw error;
    throw new OperatorError(`${error.message}. Another session holds the lock: try again.`, { code: error.code });
  });
}

async function bringUpToDate(owner: pg.Client, settings: DatabaseSettings, webRole: string): Promise<string[]> {
  // If several processes start at once, one migrates and the others find it done. The lock outlasts each transaction.
  await owner.query(`SELECT pg_advisory_lock(${migrationLock})`);
  await createRoles(owner, settings);
  await resetSettings(owner, webRole);
  const applied = await applyMigrations(owner);
  if (settings.worker) await createQueue(owner, settings.ownerUrl);
  await grantRights(owner, settings);
  await commit(owner);
  if (settings.erasureKey) await storeKeyHash(owner, settings.erasureKey);
  await enableQueue(owner, settings.worker);
  await commit(owner);
  await owner.query(`SELECT pg_advisory_unlock(${migrationLock})`);
  return applied;
}

/** Postgres is unreachable, starting, stopping or out of connections, or another start holds a lock. */
const transientCode =
  /^(?:ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|CONNECT|0800[036]|57P0[123]|53300|55P03)/;

/** Migrates for the site; retries transient errors every 5 s, and throws others. */
export async function migrateWithRetries(
  database: DatabaseSettings,
  allowPrivilegedRole: boolean,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const { applied, warnings } = await migrate(database, allowPrivilegedRole);
      if (applied?.length) log.info({ applied }, "migrated");
      for (const warning of warnings) log.warn(warning);
      return;
    } catch (error) {
      const fields = errorFields(error);
      if (!transientCode.test(fields.code ?? "")) throw error;
      log.warn({ error: fields }, "database not available; pages are served, sign-ups get 503");
    }
    await sleep(5_000, undefined, { signal }).catch(() => undefined);
  }
}

/** @throws OperatorError for another encoding: LATIN1 lacks most characters, and SQL_ASCII counts bytes. */
async function requireUtf8(client: pg.Client) {
  const encoding = (await client.query("SHOW server_encoding")).rows[0].server_encoding;
  if (encoding === "UTF8") return;
  throw new OperatorError(
    `The encoding of the database is ${encoding}, which cannot store every name. Create another one, with: TEMPLATE template0 ENCODING 'UTF8'`,
  );
}

/** Returns whether the waitlist exists, and whether the current role may create it or, once it exists, act as its owner. */
export async function findWaitlist(client: pg.Client) {
  const { rows } = await client.query(
    `SELECT w.oid IS NOT NULL AS found,
       CASE WHEN w.oid IS NULL THEN has_schema_privilege('public', 'CREATE') ELSE pg_has_role(w.relowner, 'USAGE') END AS "mayMigrate"
     FROM to_regclass('public.earlyaccess') AS name LEFT JOIN pg_class w ON w.oid = name`,
  );
  return rows[0] as { found: boolean; mayMigrate: boolean };
}

/** Returns the migrations to apply. Ignores those that another application recorded in the same table. */
export async function pendingMigrations(owner: pg.Client, folder = migrationsFolder) {
  const names = (await readdir(folder)).filter((name) => /^\d/.test(name)).toSorted();
  const read = async (name: string) => {
    const text = await readFile(join(folder, name, "migration.sql"), "utf8");
    // Git for Windows may have changed the line ends, which are part of the checksum.
    return { name, sql: text.replaceAll("\r\n", "\n") };
  };
  const migrations = await Promise.all(names.map(read));
  const { rows: tables } = await owner.query("SELECT to_regclass('public._prisma_migrations') IS NOT NULL AS found");
  if (!tables[0].found) return migrations;
  const { rows } = await owner.query<{ name: string; finished: boolean }>(
    `SELECT migration_name AS name, finished_at IS NOT NULL AS finished FROM public._prisma_migrations
     WHERE rolled_back_at IS NULL ORDER BY started_at`,
  );
  const recorded = new Map(rows.map(({ name, finished }) => [name, finished]));
  const unfinished = migrations.find(({ name }) => recorded.get(name) === false)?.name;
  if (unfinished === undefined) return migrations.filter(({ name }) => !recorded.has(name));
  const resolve = (column: string) =>
    `UPDATE public._prisma_migrations SET ${column} = now() WHERE migration_name = '${unfinished}' AND finished_at IS NULL;`;
  throw new OperatorError(
    `Migration ${unfinished} in public._prisma_migrations did not finish. If it did not apply, run as the owner: ${resolve("rolled_back_at")} If it did: ${resolve("finished_at")}`,
  );
}

/** Applies the pending migrations, each in one transaction, and records them as `prisma migrate deploy` does. */
export async function applyMigrations(owner: pg.Client, folder = migrationsFolder): Promise<string[]> {
  const pending = await pendingMigrations(owner, folder);
  if (pending.length > 0) await owner.query(createTable);
  for (const { name, sql } of pending) {
    try {
      // Migrations name tables without a schema.
      await owner.query(`SET LOCAL search_path = public; ${sql}`);
    } catch (error) {
      if (error instanceof pg.DatabaseError) error.message = `Migration ${name} failed: ${error.message}`;
      throw error;
    }
    await owner.query(insertRecord, [createHash("sha256").update(sql).digest("hex"), name]);
    await commit(owner);
  }
  return pending.map(({ name }) => name);
}

/** Prisma's own statement. */
const createTable = `
CREATE TABLE IF NOT EXISTS public._prisma_migrations (
  id                  VARCHAR(36) PRIMARY KEY NOT NULL,
  checksum            VARCHAR(64) NOT NULL,
  finished_at         TIMESTAMPTZ,
  migration_name      VARCHAR(255) NOT NULL,
  logs                TEXT,
  rolled_back_at      TIMESTAMPTZ,
  started_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
  applied_steps_count INTEGER NOT NULL DEFAULT 0
)`;

const insertRecord = `
INSERT INTO public._prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
VALUES (gen_random_uuid(), $1, $2, now(), clock_timestamp(), 1)`;
