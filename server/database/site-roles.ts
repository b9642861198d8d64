// The roles besides the web role and the owner: the admins and the sender of notices.
import type pg from "pg";
import { listAdmins, personalLogin } from "./admins.ts";
import { senderRights } from "./outbox.ts";
import { adminRights } from "./rights.ts";
import { examineOwner, examineRole, type RoleFinding } from "./role-findings.ts";
import { readRole, restrictedRole, type DatabaseUrls, type RestrictedRole } from "./roles.ts";

export const senderRole = (url: string) => restrictedRole("NOTIFY_DATABASE_URL", url, senderRights);

/** Lists the shared admin role and the personal logins. */
export async function listAdminRoles(client: pg.Client, { adminUrl }: DatabaseUrls): Promise<RestrictedRole[]> {
  const shared = adminUrl ? [restrictedRole("DATABASE_ADMIN_URL", adminUrl, adminRights)] : [];
  return [...shared, ...(await listAdmins(client)).map((name) => personalLogin(name))];
}

/** Lists the admins and the sender of notices, without those that are the owner itself. */
export async function listOtherRoles(client: pg.Client, urls: DatabaseUrls): Promise<RestrictedRole[]> {
  const ownerRole = readRole(urls.ownerUrl).name;
  const sender = urls.senderUrl ? [senderRole(urls.senderUrl)] : [];
  return [...(await listAdminRoles(client, urls)), ...sender].filter(({ name }) => name !== ownerRole);
}

/** Lists how the roles besides the web role could do more than they need. */
export async function examineOtherRoles(client: pg.Client, urls: DatabaseUrls): Promise<RoleFinding[]> {
  const ownerRole = readRole(urls.ownerUrl).name;
  const findings = readRole(urls.webUrl).name === ownerRole ? [] : await examineOwner(client, ownerRole);
  for (const role of await listOtherRoles(client, urls)) findings.push(...(await examineRole(client, role, ownerRole)));
  return findings;
}
