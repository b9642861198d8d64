// Whether a role is a superuser or the waitlist's owner, and what to do if the web role is one.
import pg from "pg";
import { ownObjects } from "../own-objects.ts";
import type { RoleFinding } from "./finding.ts";
import type { SiteRole } from "./site-roles.ts";

export interface Identity {
  /** Null before the first migration. */
  waitlistOwner: string | null;
  superuser: boolean;
  /** The superuser that initdb creates has to stay one. */
  bootstrap: boolean;
  /** The role is the waitlist's owner, or becomes it when it migrates. */
  owns: boolean;
  /** The role of DATABASE_OWNER_URL may act as the waitlist's owner. */
  ownerMayMigrate: boolean;
}

/** Selects an Identity. Parameters: the role, and the role of DATABASE_OWNER_URL. */
export const identityQuery = `
WITH ${ownObjects}
SELECT pg_get_userbyid(relowner) AS "waitlistOwner", role.rolsuper AS superuser, role.oid = 10 AS bootstrap,
       CASE WHEN relowner IS NULL THEN has_schema_privilege(role.oid, n.oid, 'CREATE')
                 AND ($1 = $2 OR NOT coalesce(has_schema_privilege(o.oid, n.oid, 'CREATE'), false))
            ELSE relowner = role.oid OR $1 = $2 AND pg_has_role(role.oid, relowner, 'MEMBER') END AS owns,
       CASE WHEN relowner IS NULL THEN coalesce(has_schema_privilege(o.oid, n.oid, 'CREATE'), false)
            ELSE coalesce(pg_has_role(o.oid, relowner, 'USAGE'), false) END AS "ownerMayMigrate"
FROM pg_roles role LEFT JOIN pg_roles o ON o.rolname = $2 LEFT JOIN waitlist ON true
  LEFT JOIN pg_namespace n ON nspname = 'public'
WHERE role.rolname = $1`;

/** Lists what the web role's identity gives away, and an owner's URL that names another role than the owner. */
export function describeWebRole(identity: Identity, { name, label }: SiteRole, ownerRole: string): RoleFinding[] {
  const { superuser, owns, ownerMayMigrate, waitlistOwner } = identity;
  if (superuser || owns) {
    const danger = superuser
      ? "is a superuser, so a compromised web process could read and change everything in this Postgres."
      : "acts as the waitlist's owner, so a compromised web process could read, change and delete it.";
    const { advice, statements = [] } = advise(identity, name, ownerRole);
    return [{ severity: "privileged", text: `${label} ${danger} ${advice}`, statements }];
  }
  if (ownerMayMigrate || ownerRole === name || waitlistOwner === null) return [];
  const text = `DATABASE_OWNER_URL names "${ownerRole}", but "${waitlistOwner}" owns the waitlist, so nothing is migrated. Name "${waitlistOwner}".`;
  return [{ severity: "warning", text, statements: [] }];
}

/** What to do about a web role that is a superuser or the owner. */
function advise(identity: Identity, webRole: string, ownerRole: string): { advice: string; statements?: string[] } {
  const ownRole = "a role of its own, for example perennial_web; migrating creates it.";
  const [web, owner] = [webRole, ownerRole].map((role) => pg.escapeIdentifier(role));
  if (webRole === ownerRole) return { advice: `Set DATABASE_OWNER_URL to this URL and DATABASE_URL to ${ownRole}` };
  if (!identity.ownerMayMigrate) {
    return { advice: `DATABASE_OWNER_URL names "${ownerRole}", which does not own it: exchange the two URLs.` };
  }
  if (identity.bootstrap) return { advice: `Name in DATABASE_URL ${ownRole}` };
  if (identity.superuser) return { advice: "Make it an ordinary role.", statements: [`ALTER ROLE ${web} NOSUPERUSER`] };
  return { advice: "", statements: [`ALTER TABLE public.earlyaccess OWNER TO ${owner}`] };
}
