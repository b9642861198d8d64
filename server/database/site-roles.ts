// The roles that the site's URLs name, the admins' personal logins, and what is wrong with each.
import type pg from "pg";
import { listAdmins } from "./admins.ts";
import type { DatabaseUrls } from "./migrate.ts";
import { senderRights } from "./outbox.ts";
import { adminRights } from "./rights.ts";
import { examineOwner, examineRole, type RoleFinding } from "./role-findings.ts";
import { readRole, restrictedRole, type RestrictedRole } from "./roles.ts";

/** A role besides the web role and the owner. */
interface OtherRole extends Omit<RestrictedRole, "password"> {
  /** The roles that it is meant to be a member of. */
  groups: string[];
}

export const adminRole = (url: string) => restrictedRole("DATABASE_ADMIN_URL", url, adminRights);
export const senderRole = (url: string) => restrictedRole("NOTIFY_DATABASE_URL", url, senderRights);

/** Lists the admins and the sender of notices, without those that are the owner itself. */
export async function listOtherRoles(client: pg.Client, urls: DatabaseUrls): Promise<OtherRole[]> {
  const ownerRole = readRole(urls.ownerUrl).name;
  const roles: OtherRole[] = [];
  if (urls.adminUrl) {
    const admin = adminRole(urls.adminUrl);
    const logins = await listAdmins(client, admin.name);
    roles.push({ ...admin, groups: [] });
    roles.push(...logins.map((name) => ({ name, label: `The admin "${name}"`, rights: [], groups: [admin.name] })));
  }
  if (urls.senderUrl) roles.push({ ...senderRole(urls.senderUrl), groups: [] });
  return roles.filter(({ name }) => name !== ownerRole);
}

/** Lists how the roles besides the web role could do more than they need. */
export async function examineOtherRoles(client: pg.Client, urls: DatabaseUrls): Promise<RoleFinding[]> {
  const ownerRole = readRole(urls.ownerUrl).name;
  const findings = readRole(urls.webUrl).name === ownerRole ? [] : await examineOwner(client, ownerRole);
  for (const role of await listOtherRoles(client, urls)) {
    findings.push(...(await examineRole(client, role, ownerRole, role.groups)));
  }
  return findings;
}
