// Brings a database up to date: Prisma's migrations, then the queue and the erasures, then the roles and their rights.
import type pg from "pg";
import { OperatorError } from "../operator-messages.ts";
import { withConnection } from "./client.ts";
import { createErasureTable } from "./erasures.ts";
import { applyMigrations, migrationLock } from "./migrations.ts";
import { createQueue, enableQueue } from "./queue.ts";
import { examineRoles } from "./roles/examine.ts";
import { formatFinding, refusePrivilegedRole, type RoleFinding } from "./roles/finding.ts";
import { setUpRole } from "./roles/set-up.ts";
import { listRoles, readRole, type DatabaseUrls } from "./roles/site-roles.ts";

export type { DatabaseUrls } from "./roles/site-roles.ts";

export interface MigrationResult {
  applied: string[];
  /** The statements that gave each role the rights it needs. */
  rights: string[];
  /** "restricted" is intended. "privileged": a superuser or the owner. "unprivileged": ownerUrl's role may not migrate. */
  webRole: "restricted" | "privileged" | "unprivileged";
  /** Ways in which a role could do more than its rights allow. */
  findings: RoleFinding[];
}

/**
 * Applies missing migrations, creates the roles that the URLs name, and sets their rights; safe to repeat and to run
 * from several processes at once. If ownerUrl's role may not migrate, it changes nothing ("unprivileged"): the owner migrates elsewhere.
 * @param allowPrivilegedRole false refuses a web role that is a superuser or the owner, before it changes anything.
 * @throws OperatorError if the operator has to act; otherwise the error of Postgres, which names a migration that failed.
 */
export async function migrate(urls: DatabaseUrls, allowPrivilegedRole = true): Promise<MigrationResult> {
  return withConnection(urls.ownerUrl, async (owner) => {
    // Of several starts at once, one migrates and the others find it done.
    await owner.query("SELECT pg_advisory_lock($1)", [migrationLock]);
    const findings = await examineRoles(owner, urls);
    if (!allowPrivilegedRole) refusePrivilegedRole(findings);
    if (!(await mayMigrate(owner))) {
      await requireWaitlist(owner, readRole(urls.ownerUrl).name, findings);
      return { applied: [], rights: [], webRole: "unprivileged", findings };
    }
    const applied = await applyMigrations(owner);
    if (urls.worker) await createQueue(owner, urls.ownerUrl);
    if (urls.erasureKey) await createErasureTable(owner, urls.erasureKey);
    const rights: string[] = [];
    for (const role of await listRoles(owner, urls)) rights.push(...(await setUpRole(owner, role)));
    rights.push(...(await enableQueue(owner, urls.worker && readRole(urls.worker.url).name, urls.worker?.tasks ?? [])));
    const isPrivileged = findings.some(({ severity }) => severity === "privileged");
    return {
      applied,
      rights,
      webRole: isPrivileged ? "privileged" : "restricted",
      // New tables and roles may have got rights by default privileges.
      findings: applied.length + rights.length > 0 ? await examineRoles(owner, urls) : findings,
    };
  });
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
async function requireWaitlist(client: pg.Client, role: string, findings: RoleFinding[]): Promise<void> {
  const { rowCount } = await client.query(
    "SELECT FROM pg_tables WHERE schemaname = 'public' AND tablename = 'earlyaccess'",
  );
  if (rowCount) return;
  const missing = `The table public.earlyaccess does not exist and "${role}" may not create it. Run the migrations with the owner's connection in DATABASE_OWNER_URL.`;
  throw new OperatorError([missing, ...findings.map(formatFinding)].join("\n"));
}
