// The doctor's checks of roles: the rights of each, and other roles that may read the list.
import pg from "pg";
import { examineOwner, examineRole } from "../../../database/roles/examine.ts";
import { formatFinding, type RoleFinding } from "../../../database/roles/finding.ts";
import { rightChanges } from "../../../database/roles/set-up.ts";
import { listRoles, readRole, type DatabaseUrls, type SiteRole } from "../../../database/roles/site-roles.ts";
import { listNames, printable, printableName } from "../../../operator-messages.ts";
import type { Finding } from "./finding.ts";
import { migrateHint } from "../owner.ts";

/**
 * Checks the owner and every role of the site.
 * @param client of any role: only catalogs are read.
 */
export async function* examineRoles(
  client: pg.Client,
  urls: DatabaseUrls,
  allowPrivilegedRole: boolean,
): AsyncGenerator<Finding> {
  const ownerRole = readRole(urls.ownerUrl).name;
  const roles = await listRoles(client, urls);
  for (const finding of await examineOwner(client, ownerRole)) yield toFinding("Owner role", finding);
  for (const role of roles) {
    const what = role.kind === "web" ? "Web role" : `Role ${printableName(role.name)}`;
    const findings = await examineRole(client, role, ownerRole);
    yield* findings.map((finding) => toFinding(what, finding, allowPrivilegedRole));
    if (findings.some(({ severity }) => severity === "privileged")) continue;
    const rights = await examineRights(client, what, role);
    if (rights && (rights.verdict === "problem" || findings.length === 0)) yield rights;
  }
  const readers = roles.filter(({ kind }) => kind === "admin").map(({ name }) => name);
  yield* examineReaders(client, readers);
}

function toFinding(what: string, finding: RoleFinding, allowPrivilegedRole = false): Finding {
  const isWarning = finding.severity === "warning" || (finding.severity === "privileged" && allowPrivilegedRole);
  return { verdict: isWarning ? "warning" : "problem", what, text: formatFinding(finding) };
}

/** Returns nothing if the role or the waitlist does not exist: the connection or the migrations are a problem of their own. */
async function examineRights(
  client: pg.Client,
  what: string,
  { name, rights }: SiteRole,
): Promise<Finding | undefined> {
  if (!(await waitlistAndRoleExist(client, name))) return undefined;
  const statements = await rightChanges(client, name, rights);
  if (statements.length === 0) {
    return {
      verdict: "ok",
      what,
      text: "has its rights, and no other",
    };
  }
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
async function* examineReaders(client: pg.Client, expected: string[]): AsyncGenerator<Finding> {
  const { rows } = await client.query<{ role: string }>(
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
