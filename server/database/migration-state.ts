// What the database says of its migrations, and whether the current role may apply them.
import { createHash } from "node:crypto";
import pg from "pg";
import { OperatorError } from "../operator-error.ts";
import { MissingRightError } from "./roles.ts";
import { readMigrations } from "./schema-engine.ts";
import { formatFinding, type RoleFinding } from "./role-findings.ts";

/**
 * Returns whether every migration is recorded as applied. Reads Prisma's table instead of loading its engine, which
 * takes 0.1 s. Ignores migrations that another application recorded in the same table.
 * @throws MissingRightError if the table belongs to another role that lets nobody read it.
 */
export async function isUpToDate(owner: pg.Client): Promise<boolean> {
  const { rows: tables } = await owner.query<{ role: string; may: boolean }>(
    `SELECT current_user AS role, has_table_privilege(c.oid, 'SELECT') AS may
     FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
     WHERE nspname = 'public' AND relname = '_prisma_migrations'`,
  );
  const [table] = tables;
  if (!table) return false;
  if (!table.may) {
    const grant = `GRANT SELECT, INSERT, UPDATE ON public._prisma_migrations TO ${pg.escapeIdentifier(table.role)}`;
    throw new MissingRightError("use another application's public._prisma_migrations", [grant]);
  }
  const wanted = (await readMigrations()).map(({ name, sql }) => ({ name, checksum: sha256(sql) }));
  const { rows } = await owner.query<{ name: string; checksum: string; done: boolean }>(
    `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS done FROM public._prisma_migrations
     WHERE rolled_back_at IS NULL AND migration_name = ANY ($1)`,
    [wanted.map(({ name }) => name)],
  );
  const found = new Set(rows.map(({ name, checksum }) => `${name} ${checksum}`));
  return rows.every(({ done }) => done) && wanted.every(({ name, checksum }) => found.has(`${name} ${checksum}`));
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Returns whether the current role may create the waitlist or, once it exists, act as its owner. */
export async function mayMigrate(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ may: boolean }>(
    `SELECT CASE WHEN c.oid IS NULL THEN has_schema_privilege(n.oid, 'CREATE')
                 ELSE pg_has_role(c.relowner, 'USAGE') END AS may
     FROM pg_namespace n LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = 'earlyaccess'
     WHERE nspname = 'public'`,
  );
  return rows[0]?.may ?? false;
}

/** @throws OperatorError with the findings if the database has no waitlist. */
export async function requireWaitlist(client: pg.Client, role: string, findings: RoleFinding[]): Promise<void> {
  const { rowCount } = await client.query(
    "SELECT FROM pg_tables WHERE schemaname = 'public' AND tablename = 'earlyaccess'",
  );
  if (rowCount) return;
  const missing = `The table public.earlyaccess does not exist and "${role}" may not create it. Run the migrations with the owner's connection in DATABASE_OWNER_URL.`;
  throw new OperatorError([missing, ...findings.map(formatFinding)].join("\n"));
}
