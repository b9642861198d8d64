// The roles that migrating creates and gives exactly their rights: the web role, the admins and the worker.
import type pg from "pg";
import { adminRights, webRights, workerRights, type Right, type WorkerTask } from "./rights.ts";

export interface DatabaseUrls {
  ownerUrl: string;
  webUrl: string;
  /** Of Prisma Studio; undefined if the admins share no role. */
  adminUrl?: string;
  /** The worker's connection and tasks; undefined if it has none. */
  worker?: { url: string; tasks: WorkerTask[] };
  /** The key of the hashes of erased addresses; undefined if these are not kept. */
  erasureKey?: string;
}

export interface Role {
  name: string;
  password: string;
}

export interface SiteRole extends Role {
  kind: "web" | "admin" | "worker";
  /** Begins the sentences about it, for example 'The role of DATABASE_ADMIN_URL, "perennial_admin",'. */
  label: string;
  rights: Right[];
}

export function readRole(url: string): Role {
  const { username, password } = new URL(url);
  return { name: decodeURIComponent(username), password: decodeURIComponent(password) };
}

function siteRole(kind: SiteRole["kind"], variable: string, url: string, rights: Right[]): SiteRole {
  const role = readRole(url);
  return { ...role, kind, label: `The role of ${variable}, "${role.name}",`, rights };
}

export const webRole = (url: string) => siteRole("web", "DATABASE_URL", url, webRights);

/** A personal login of an admin. */
export const personalLogin = (name: string, password = ""): SiteRole => ({
  kind: "admin",
  name,
  password,
  label: `The admin "${name}"`,
  rights: adminRights,
});

/** The comment on a personal login of this database, in SQL. Other databases may be in the same Postgres. */
export const loginComment = "'waitlist admin of ' || current_database()";

/** Lists the personal logins by name. */
export async function listAdmins(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT rolname AS name FROM pg_roles WHERE shobj_description(oid, 'pg_authid') = ${loginComment} ORDER BY name`,
  );
  return rows.map(({ name }) => name);
}

/** Lists the web role, and the others unless they are the owner itself. Reads only catalogs, so any role may run it. */
export async function listRoles(client: pg.Client, urls: DatabaseUrls): Promise<SiteRole[]> {
  const { ownerUrl, webUrl, adminUrl, worker } = urls;
  const others = [
    ...(adminUrl ? [siteRole("admin", "DATABASE_ADMIN_URL", adminUrl, adminRights)] : []),
    ...(await listAdmins(client)).map((name) => personalLogin(name)),
    ...(worker ? [siteRole("worker", "NOTIFY_DATABASE_URL", worker.url, workerRights(worker.tasks))] : []),
  ];
  return [webRole(webUrl), ...others.filter(({ name }) => name !== readRole(ownerUrl).name)];
}
