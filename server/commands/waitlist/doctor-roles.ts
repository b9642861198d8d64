// The doctor's checks of roles: the rights of the web role, and other roles that may read the list.
import pg from "pg";
import { webRightChanges } from "../../database/roles.ts";
import { examineWebRole, formatFinding } from "../../database/web-role-findings.ts";
import { listNames, printable } from "../../printable.ts";
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
  for (const finding of findings) {
    const isWarning = finding.severity === "warning" || (finding.severity === "privileged" && allowPrivilegedRole);
    yield { verdict: isWarning ? "warning" : "problem", what, text: formatFinding(finding) };
  }
  if (findings.some(({ severity }) => severity === "privileged")) return;
  if (!(await waitlistAndRoleExist(client, webRole))) return; // The connection or the migrations are a problem of their own.
  const statements = await webRightChanges(client, webRole);
  if (statements.length > 0) {
    const text = [`its rights are not INSERT alone. ${migrateHint} It runs:`, ...statements.map((sql) => `${sql};`)];
    yield { verdict: "problem", what, text: text.join("\n") };
  } else if (findings.length === 0) yield { verdict: "ok", what, text: "may insert, and nothing else" };
}

async function waitlistAndRoleExist(client: pg.Client, webRole: string): Promise<boolean> {
  const { rowCount } = await client.query(
    "SELECT FROM pg_roles, pg_tables WHERE rolname = $1 AND schemaname = 'public' AND tablename = 'earlyaccess'",
    [webRole],
  );
  return rowCount === 1;
}

/** Some providers let roles of their own read every new table, and answer the internet with them. */
export async function* examineReaders(owner: pg.Client): AsyncGenerator<Finding> {
  const { rows } = await owner.query<{ role: string }>(
    `SELECT rolname AS role FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace, aclexplode(relacl)
       JOIN pg_roles r ON r.oid = grantee
     WHERE nspname = 'public' AND relname = 'earlyaccess' AND privilege_type = 'SELECT' AND grantee <> relowner
     ORDER BY rolname`,
  );
  if (rows.length === 0) return;
  const roles = rows.map(({ role }) => pg.escapeIdentifier(role));
  const text = `besides the owner, these may read the list: ${listNames(roles)}. If that is not intended: REVOKE ALL ON public.earlyaccess FROM ${roles.map(printable).join(", ")};`;
  yield { verdict: "warning", what: "Readers", text };
}
