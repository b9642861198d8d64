// The web role: what a compromised web process could do with it beyond a sign-up, and what takes that away.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type pg from "pg";
import { projectRoot } from "../project-root.ts";

/** An SQL condition: the role `r` is a superuser or may act as the owner of the waitlist `w`, or of the coming one. */
export const isPrivileged =
  "r.rolsuper OR pg_has_role(r.oid, coalesce(w.relowner, to_regrole(quote_ident(current_user))), 'MEMBER')";
export const rolesAndWaitlist = "pg_roles r LEFT JOIN pg_class w ON w.oid = to_regclass('public.earlyaccess')";

/** Lists what the role has beyond a sign-up, each with the statement that takes it away. */
async function listExcess(owner: pg.Client, name: string) {
  const query = await readFile(join(projectRoot, "prisma/web-role.sql"), "utf8");
  return (await owner.query<{ held: string; repair: string; is_setting: boolean }>(query, [name])).rows;
}

/**
 * Examines the web role, as the owner. Returns whether it is a superuser or the owner, and a warning of what a compromised web
 * process could do; none if that could only sign up.
 */
export async function examineWebRole(owner: pg.Client, name: string) {
  const query = `SELECT ${isPrivileged} AS privileged FROM ${rolesAndWaitlist} WHERE r.rolname = $1`;
  const { rows } = await owner.query<{ privileged: boolean }>(query, [name]);
  const role = `The role of DATABASE_URL, "${name}",`;
  if (rows[0]?.privileged) {
    const warning = `${role} is a superuser or the owner of the waitlist: a compromised web process could read and delete everything. Name a role of its own in DATABASE_URL, for example perennial_web, and the owner in DATABASE_OWNER_URL; migrating creates the role.`;
    return { isPrivileged: true, warning };
  }
  const excess = await listExcess(owner, name);
  if (excess.length === 0) return { isPrivileged: false, warning: undefined };
  const held = [...new Set(excess.map((one) => one.held))].join(", ");
  const repairs = [...new Set(excess.map(({ repair }) => `\n  ${repair};`))].join("");
  const warning = `${role} has ${held}. No sign-up needs it, and a compromised web process could use it. As an administrator of this database, run:${repairs}`;
  return { isPrivileged: false, warning };
}

/** Resets the settings with which the web role refuses or loses its own sign-ups. examineWebRole reports those that remain. */
export async function resetSettings(owner: pg.Client, name: string): Promise<void> {
  for (const { repair, is_setting } of await listExcess(owner, name)) {
    // The owner may lack the right, and a compromised site may change its role at the same time.
    if (is_setting) await owner.query(`SAVEPOINT reset; ${repair}`).catch(() => owner.query("ROLLBACK TO reset"));
  }
}
