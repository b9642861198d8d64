// Finds out how a role could read or change the waitlist by other ways than the rights that migrating manages.
import pg from "pg";
import { checks, checksQuery } from "./checks.ts";
import type { RoleFinding } from "./finding.ts";
import { describeWebRole, identityQuery, type Identity } from "./identity.ts";
import { webRights } from "./rights.ts";
import { listRoles, readRole, type DatabaseUrls, type SiteRole } from "./site-roles.ts";

/** Examines the owner and every role of the site. */
export async function examineRoles(client: pg.Client, urls: DatabaseUrls): Promise<RoleFinding[]> {
  const ownerRole = readRole(urls.ownerUrl).name;
  const findings: RoleFinding[] = [];
  for (const role of await listRoles(client, urls)) findings.push(...(await examineRole(client, role, ownerRole)));
  // One finding for a role that is both.
  const isWebRole = readRole(urls.webUrl).name === ownerRole;
  return isWebRole ? findings : [...findings, ...(await examineOwner(client, ownerRole))];
}

/** Returns a warning if the owner is a superuser, which neither migrations nor commands need. */
export async function examineOwner(client: pg.Client, ownerRole: string): Promise<RoleFinding[]> {
  const { rowCount } = await client.query("SELECT FROM pg_roles WHERE rolname = $1 AND rolsuper", [ownerRole]);
  if (!rowCount) return [];
  const text = `The role of DATABASE_OWNER_URL, "${ownerRole}", is a superuser. A role that owns the database and has CREATEROLE is enough: see docs/postgres.md.`;
  return [{ severity: "warning", text, statements: [] }];
}

/**
 * Lists how a role could do more than its rights allow; nothing if the role does not exist. Reads only system catalogs, so
 * any role may run it.
 */
export async function examineRole(client: pg.Client, role: SiteRole, ownerRole: string): Promise<RoleFinding[]> {
  const { rows } = await client.query<Identity>(identityQuery, [role.name, ownerRole]);
  const [identity] = rows;
  if (!identity) return [];
  const { superuser, owns, waitlistOwner } = identity;
  const newOwner = waitlistOwner === null || waitlistOwner === role.name ? ownerRole : waitlistOwner;
  if (role.kind === "web") {
    // The rights of a superuser or of the owner are one finding, not one each.
    const examined = superuser || owns ? null : role.name;
    return [...describeWebRole(identity, role, ownerRole), ...(await runChecks(client, role, examined, newOwner))];
  }
  if (!superuser) return runChecks(client, role, role.name, newOwner);
  const text = `${role.label} is a superuser, and could read, change and delete everything in this Postgres.`;
  return [{ severity: "problem", text, statements: [`ALTER ROLE ${pg.escapeIdentifier(role.name)} NOSUPERUSER`] }];
}

/** @param examined null skips the checks of the role's own rights. */
async function runChecks(
  client: pg.Client,
  { kind, label }: SiteRole,
  examined: string | null,
  newOwner: string,
): Promise<RoleFinding[]> {
  const webTargets = webRights.map(({ target }) => target);
  const { rows } = await client.query<{ index: number; subject: string; statement: string }>(checksQuery, [
    examined,
    newOwner,
    webTargets,
  ]);
  return checks.flatMap(({ severity, forEveryRole, text }, index): RoleFinding[] => {
    const found = rows.filter((row) => row.index === index);
    if (found.length === 0 || (kind !== "web" && !forEveryRole)) return [];
    return [
      {
        // "privileged" concerns the web process alone.
        severity: kind === "web" ? severity : "problem",
        text: `${label} ${text(found.map(({ subject }) => subject).join(", "))}`,
        statements: found.map(({ statement }) => statement),
      },
    ];
  });
}
