// Reports how a role could read or change the waitlist by other ways than the rights that migrating manages.
import pg from "pg";
import { OperatorError } from "../operator-error.ts";
import { ownObjects } from "./own-objects.ts";
import { webRights } from "./rights.ts";
import { checks, checksQuery, type Severity } from "./role-checks.ts";
import type { RestrictedRole } from "./roles.ts";

export interface RoleFinding {
  severity: Severity;
  text: string;
  /** SQL for an administrator; none if a variable has to be changed instead. */
  statements: string[];
}

/**
 * Lists how the web role could read or change the waitlist by other ways than a grant by name on it.
 * Reads only system catalogs, so any role may run it. Returns nothing if the web role does not exist.
 */
export async function examineWebRole(client: pg.Client, webRole: string, ownerRole: string): Promise<RoleFinding[]> {
  const { rows } = await client.query<Identity>(identityQuery, [webRole, ownerRole]);
  const [identity] = rows;
  if (!identity) return [];
  const { superuser, owns, waitlistOwner } = identity;
  // The rights of a superuser or of the owner are one finding, not one each.
  const examined = superuser || owns ? null : webRole;
  const newOwner = waitlistOwner === null || waitlistOwner === webRole ? ownerRole : waitlistOwner;
  const others = await runChecks(client, nameWebRole(webRole), examined, newOwner);
  return [...describeIdentity(identity, webRole, ownerRole), ...others.map(({ finding }) => finding)];
}

/** Lists how an admin or the sender of notices could do more than the rights that migrating manages. */
export async function examineRole(
  client: pg.Client,
  { name, label }: Pick<RestrictedRole, "name" | "label">,
  ownerRole: string,
): Promise<RoleFinding[]> {
  const { rows } = await client.query<{ superuser: boolean }>(
    "SELECT rolsuper AS superuser FROM pg_roles WHERE rolname = $1",
    [name],
  );
  if (!rows[0]) return [];
  if (rows[0].superuser) {
    const text = `${label} is a superuser, and could read, change and delete everything in this Postgres.`;
    return [{ severity: "problem", text, statements: [`ALTER ROLE ${pg.escapeIdentifier(name)} NOSUPERUSER`] }];
  }
  const found = await runChecks(client, label, name, ownerRole);
  // "privileged" concerns the web process alone.
  return found
    .filter(({ check }) => check.forEveryRole)
    .map(({ finding: { text, statements } }) => ({ severity: "problem", text, statements }));
}

/** Returns a warning if the owner is a superuser, which neither migrations nor commands need. */
export async function examineOwner(client: pg.Client, ownerRole: string): Promise<RoleFinding[]> {
  const { rowCount } = await client.query("SELECT FROM pg_roles WHERE rolname = $1 AND rolsuper", [ownerRole]);
  if (!rowCount) return [];
  const text = `The role of DATABASE_OWNER_URL, "${ownerRole}", is a superuser. A role that owns the database and has CREATEROLE is enough: see docs/postgres.md.`;
  return [{ severity: "warning", text, statements: [] }];
}

async function runChecks(client: pg.Client, label: string, role: string | null, newOwner: string) {
  const webTables = webRights.map(({ table }) => table);
  const { rows } = await client.query<Found>(checksQuery, [role, newOwner, webTables]);
  return checks.flatMap((check, index) => {
    const found = rows.filter((row) => row.index === index);
    if (found.length === 0) return [];
    const text = `${label} ${check.text(found.map(({ subject }) => subject).join(", "))}`;
    const finding: RoleFinding = {
      severity: check.severity,
      text,
      statements: found.map(({ statement }) => statement),
    };
    return [{ check, finding }];
  });
}

/** The sentence and the SQL of a finding, for the log, the terminal and error messages. */
export function formatFinding({ text, statements }: RoleFinding): string {
  if (statements.length === 0) return text;
  return [`${text} As an administrator of this database, run:`, ...statements.map((sql) => `  ${sql};`)].join("\n");
}

/** @throws OperatorError if the web role is a superuser or the owner. */
export function refusePrivilegedRole(findings: RoleFinding[]): void {
  const privileged = findings.filter(({ severity }) => severity === "privileged");
  if (privileged.length === 0) return;
  const hint = "To start all the same, set ALLOW_PRIVILEGED_ROLE=true.";
  throw new OperatorError([...privileged.map(formatFinding), hint].join("\n"));
}

interface Found {
  index: number;
  subject: string;
  statement: string;
}

interface Identity {
  /** Null before the first migration. */
  waitlistOwner: string | null;
  superuser: boolean;
  /** The superuser that initdb creates has to stay one. */
  bootstrap: boolean;
  /** The web role is the waitlist's owner, or becomes it when it migrates. */
  owns: boolean;
  /** The role of DATABASE_OWNER_URL may act as the waitlist's owner. */
  ownerMayMigrate: boolean;
}

const identityQuery = `
WITH ${ownObjects}
SELECT pg_get_userbyid(relowner) AS "waitlistOwner", web.rolsuper AS superuser, web.oid = 10 AS bootstrap,
       CASE WHEN relowner IS NULL THEN has_schema_privilege(web.oid, n.oid, 'CREATE')
                 AND ($1 = $2 OR NOT coalesce(has_schema_privilege(o.oid, n.oid, 'CREATE'), false))
            ELSE relowner = web.oid OR $1 = $2 AND pg_has_role(web.oid, relowner, 'MEMBER') END AS owns,
       CASE WHEN relowner IS NULL THEN coalesce(has_schema_privilege(o.oid, n.oid, 'CREATE'), false)
            ELSE coalesce(pg_has_role(o.oid, relowner, 'USAGE'), false) END AS "ownerMayMigrate"
FROM pg_roles web LEFT JOIN pg_roles o ON o.rolname = $2 LEFT JOIN waitlist ON true
  LEFT JOIN pg_namespace n ON nspname = 'public'
WHERE web.rolname = $1`;

const nameWebRole = (webRole: string) => `The role of DATABASE_URL, "${webRole}",`;

function describeIdentity(identity: Identity, webRole: string, ownerRole: string): RoleFinding[] {
  const { superuser, owns, ownerMayMigrate, waitlistOwner } = identity;
  if (superuser || owns) {
    const danger = superuser
      ? "is a superuser, so a compromised web process could read and change everything in this Postgres."
      : "acts as the waitlist's owner, so a compromised web process could read, change and delete it.";
    const { advice, statements } = advise(identity, webRole, ownerRole);
    return [{ severity: "privileged", text: `${nameWebRole(webRole)} ${danger} ${advice}`, statements }];
  }
  if (ownerMayMigrate || ownerRole === webRole || waitlistOwner === null) return [];
  const text = `DATABASE_OWNER_URL names "${ownerRole}", but "${waitlistOwner}" owns the waitlist, so nothing is migrated. Name "${waitlistOwner}".`;
  return [{ severity: "warning", text, statements: [] }];
}

/** What to do about a web role that is a superuser or the owner. */
function advise({ superuser, bootstrap, ownerMayMigrate }: Identity, webRole: string, ownerRole: string) {
  const ownRole = "a role of its own, for example perennial_web; migrating creates it.";
  const [web, owner] = [webRole, ownerRole].map((role) => pg.escapeIdentifier(role));
  if (webRole === ownerRole) {
    return { advice: `Set DATABASE_OWNER_URL to this URL and DATABASE_URL to ${ownRole}`, statements: [] };
  }
  if (!ownerMayMigrate) {
    return {
      advice: `DATABASE_OWNER_URL names "${ownerRole}", which does not own it: exchange the two URLs.`,
      statements: [],
    };
  }
  if (bootstrap) return { advice: `Name in DATABASE_URL ${ownRole}`, statements: [] };
  if (superuser) return { advice: "Make it an ordinary role.", statements: [`ALTER ROLE ${web} NOSUPERUSER`] };
  return { advice: "", statements: [`ALTER TABLE public.earlyaccess OWNER TO ${owner}`] };
}
