// The doctor's checks of roles: the rights of each, and other roles that may read the list.
import pg from "pg";
import type { DatabaseUrls } from "../../database/migrate.ts";
import { webRights, type Right } from "../../database/rights.ts";
import {
  examineOwner,
  examineRole,
  examineWebRole,
  formatFinding,
  type RoleFinding,
} from "../../database/role-findings.ts";
import { readRole, rightChanges } from "../../database/roles.ts";
import { listOtherRoles } from "../../database/site-roles.ts";
import { listNames, printable, printableName } from "../../printable.ts";
import type { Finding } from "./finding.ts";
import { migrateHint } from "./owner.ts";

/** @param client of any role: only catalogs are read. */
export async function* examineWebRoleRights(
  client: pg.Client,
  webRole: string,
  ownerRole: string,
  allowPrivilegedRole: boolean,
): AsyncGenerator<Finding> {
  const what = "Web role";
  const findings = await examineWebRole(client, webRole, ownerRole);
  yield* findings.map((finding) => toFinding(what, finding, allowPrivilegedRole));
  if (findings.some(({ severity }) => severity === "privileged")) return;
  if (!(await waitlistAndRoleExist(client, webRole))) return; // The connection or the migrations are a problem of their own.
  const excess = await examineRights(client, what, webRole, webRights);
  if (excess) yield excess;
  else if (findings.length === 0) yield { verdict: "ok", what, text: "may insert, and nothing else" };
}

/** Checks the owner, the admins and the sender of notices. */
export async function* examineOtherRoleRights(owner: pg.Client, urls: DatabaseUrls): AsyncGenerator<Finding> {
  const ownerRole = readRole(urls.ownerUrl).name;
  for (const finding of await examineOwner(owner, ownerRole)) yield toFinding("Owner role", finding);
  for (const { name, label, rights } of await listOtherRoles(owner, urls)) {
    if (!(await waitlistAndRoleExist(owner, name))) continue;
    const what = `Role ${printableName(name)}`;
    const findings = await examineRole(owner, { name, label }, ownerRole);
    yield* findings.map((finding) => toFinding(what, finding));
    const excess = await examineRights(owner, what, name, rights);
    if (excess) yield excess;
    else if (findings.length === 0) yield { verdict: "ok", what, text: "has its rights, and no other" };
  }
}

function toFinding(what: string, finding: RoleFinding, allowPrivilegedRole = false): Finding {
  const isWarning = finding.severity === "warning" || (finding.severity === "privileged" && allowPrivilegedRole);
  return { verdict: isWarning ? "warning" : "problem", what, text: formatFinding(finding) };
}

/** Returns nothing if the role has exactly these rights. */
async function examineRights(
  client: pg.Client,
  what: string,
  role: string,
  rights: Right[],
): Promise<Finding | undefined> {
  const statements = await rightChanges(client, role, rights);
  if (statements.length === 0) return undefined;
  const text = [`has other rights than it should. ${migrateHint} It runs:`, ...statements.map((sql) => `${sql};`)];
  return { verdict: "problem", what, text: text.join("\n") };
}

async function waitlistAndRoleExist(client: pg.Client, role: string): Promise<boolean> {
  const { rowCount } = await client.query(
    "SELECT FROM pg_roles, pg_tables WHERE rolname = $1 AND schemaname = 'public' AND tablename = 'earlyaccess'",
    [role],
  );
  return rowCount === 1;
}

/**
 * Some providers let roles of their own read every new table, and answer the internet with them.
 * @param expected the roles that may read it.
 */
export async function* examineReaders(owner: pg.Client, expected: string[]): AsyncGenerator<Finding> {
  const { rows } = await owner.query<{ role: string }>(
    `SELECT rolname AS role FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace, aclexplode(relacl)
       JOIN pg_roles r ON r.oid = grantee
     WHERE nspname = 'public' AND relname = 'earlyaccess' AND privilege_type = 'SELECT' AND grantee <> relowner
       AND rolname <> ALL ($1)
     ORDER BY rolname`,
    [expected],
  );
  if (rows.length === 0) return;
  const roles = rows.map(({ role }) => pg.escapeIdentifier(role));
  const text = `besides the owner and the admins, these may read the list: ${listNames(roles)}. If that is not intended: REVOKE ALL ON public.earlyaccess FROM ${roles.map(printable).join(", ")};`;
  yield { verdict: "warning", what: "Readers", text };
}
