// Brings a database up to date. Prisma's schema engine would take 5.2 MB of the image, and leave the record of a failed migration.
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type pg from "pg";
import { readRole, type DatabaseSettings } from "../config/database-urls.ts";
import { OperatorError } from "../errors.ts";
import { projectRoot } from "../config/project-root.ts";
import { searchPath, withTransaction } from "./connect.ts";
import { createKept } from "./kept-schema.ts";
import { createQueue, enableQueue } from "./queue.ts";
import { createRoles, rightsSql, rolesSql } from "./roles.ts";
import { warnOfPrivileged } from "./web-role.ts";

const migrationsFolder = join(projectRoot, "prisma/migrations");

/** The advisory lock that `prisma migrate deploy` holds while it applies migrations. */
const migrationLock = 72_707_369;

interface MigrateOptions {
  /** False refuses a web role that would become the owner, before it changes anything. */
  allowPrivilegedRole?: boolean;
  folder?: string;
}

/**
 * Creates the roles that the settings name, applies missing migrations and sets all rights, in one transaction; safe to repeat and to
 * run from several processes at once. Returns the names of the migrations that it applied.
 * @throws OperatorError if ownerUrl's role may not migrate, or an administrator must act first.
 */
export async function migrate(settings: DatabaseSettings, options: MigrateOptions = {}): Promise<string[]> {
  const work = async (owner: pg.Client) => {
    await requireSuitable(owner, settings, options);
    await lockMigrations(owner);
    await createRoles(owner, settings);
    if (settings.worker) await createQueue(settings.ownerUrl);
    const applied = await applyMigrations(owner, options.folder);
    await createKept(owner);
    await owner.query(rightsSql(settings));
    await enableQueue(owner, settings.worker);
    return applied;
  };
  return withTransaction(settings.ownerUrl, work).catch((error: pg.DatabaseError) => {
    throw addRemedy(error, settings);
  });
}

/** @throws OperatorError if the waitlist cannot be in this database, the role may not migrate, or the web role may do too much. */
async function requireSuitable(
  owner: pg.Client,
  { ownerUrl, webUrl }: DatabaseSettings,
  { allowPrivilegedRole = true }: MigrateOptions,
): Promise<void> {
  const { name } = readRole(ownerUrl);
  const { encoding, mayMigrate } = await findWaitlist(owner);
  // LATIN1 lacks most characters, and SQL_ASCII counts bytes.
  if (encoding !== "UTF8") {
    const remedy = "Create another one, with: TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'";
    throw new OperatorError(`The encoding of the database is ${encoding}, which cannot store every name. ${remedy}`);
  }
  if (!mayMigrate) {
    throw new OperatorError(
      `Nothing was migrated: "${name}" may not migrate. Name the owner in DATABASE_OWNER_URL; --print-sql prints how an administrator prepares one.`,
    );
  }
  if (ownerUrl === webUrl) warnOfPrivileged(name, allowPrivilegedRole);
}

/** If several processes start at once, one migrates and the others find it done. */
async function lockMigrations(owner: pg.Client): Promise<void> {
  await owner.query(
    `SET LOCAL lock_timeout = '1min'; SELECT pg_advisory_xact_lock(${migrationLock}); SET LOCAL lock_timeout = '5s'`,
  );
}

/** Returns an OperatorError for an error whose cause the operator can remove, and any other as it is. */
function addRemedy(error: pg.DatabaseError | OperatorError, settings: DatabaseSettings): Error {
  if (error instanceof OperatorError) return error;
  const remedies: Record<string, string> = {
    "25006": "This server is read-only: name the primary one.",
    "42501": `As an administrator of this database, run what is missing of:\n${rolesSql(settings)}\nand migrate again.`,
    "42703": "A field of client/shared/fields.ts needs a migration: CONTRIBUTING.md.",
    "55P03": "Another session holds the lock: try again.",
  };
  const remedy = remedies[error.code ?? ""];
  return remedy ? new OperatorError(`${error.message}. ${remedy}`, { code: error.code }) : error;
}

/**
 * Returns the encoding, whether the waitlist exists, and whether the current role may create the waitlist or, once it exists, act as its
 * owner.
 */
export async function findWaitlist(client: pg.Client) {
  const { rows } = await client.query(
    `SELECT current_setting('server_encoding') AS encoding, w.oid IS NOT NULL AS found,
       CASE WHEN w.oid IS NULL THEN has_schema_privilege('public', 'CREATE') ELSE pg_has_role(w.relowner, 'USAGE') END AS "mayMigrate"
     FROM to_regclass('public.earlyaccess') AS name LEFT JOIN pg_class w ON w.oid = name`,
  );
  return rows[0] as { encoding: string; found: boolean; mayMigrate: boolean };
}

/**
 * Returns the migrations to apply. Ignores other records: after a roll back, those of a later version.
 * @throws OperatorError if another text of the first migration made the waitlist.
 */
export async function pendingMigrations(owner: pg.Client, folder = migrationsFolder) {
  const names = (await readdir(folder)).filter((name) => /^\d/.test(name)).toSorted();
  const read = async (name: string) => {
    const sql = await readFile(join(folder, name, "migration.sql"), "utf8");
    return { name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
  };
  const migrations = await Promise.all(names.map(read));
  const { found } = await findWaitlist(owner);
  if (!found) return migrations;
  const { rows } = await owner.query<{ name: string; checksum: string }>(
    "SELECT migration_name AS name, checksum FROM public._prisma_migrations WHERE finished_at IS NOT NULL",
  );
  const recorded = new Map(rows.map(({ name, checksum }) => [name, checksum]));
  const [first] = migrations;
  if (first && recorded.get(first.name) === first.checksum) return migrations.filter(({ name }) => !recorded.has(name));
  throw new OperatorError(
    "A version before the first release made this database, and nothing was changed. Export there, and import --own into a new one: docs/upgrade.md, From before the first release.",
  );
}

/** Applies the pending migrations, and records them as `prisma migrate deploy` does. */
async function applyMigrations(owner: pg.Client, folder?: string): Promise<string[]> {
  const pending = await pendingMigrations(owner, folder);
  for (const { name, sql, checksum } of pending) {
    // Migrations name tables without a schema.
    await owner.query(`SET LOCAL search_path = public; ${sql}; SET LOCAL ${searchPath}`).catch((error: Error) => {
      throw Object.assign(error, { message: `Migration ${name} failed: ${error.message}` });
    });
    await owner.query(
      `INSERT INTO public._prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
       VALUES (gen_random_uuid(), $1, $2, clock_timestamp(), 1)`,
      [checksum, name],
    );
  }
  return pending.map(({ name }) => name);
}
