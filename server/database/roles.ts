// The roles of the site: runs prisma/roles.sql, and examines what the web role may do.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { signUpColumns } from "./columns.ts";
import { OperatorError, printable } from "../operator-messages.ts";
import { projectRoot } from "../project-root.ts";

/** The worker's tasks, under the names that their jobs have in the queue. */
export const workerTasks = ["webhook", "mail", "purge"] as const;
export type WorkerTask = (typeof workerTasks)[number];

export interface DatabaseUrls {
  ownerUrl: string;
  webUrl: string;
  /** URL of Prisma Studio's connection; undefined if there are no admins. */
  adminUrl?: string;
  /** The worker's connection and tasks; undefined if it has none. */
  worker?: { url: string; tasks: WorkerTask[] };
  /** The key of the hashes of erased addresses; undefined if these are not kept. */
  erasureKey?: string;
}

export function readRole(url: string): { name: string; password: string } {
  const { username, password } = new URL(url);
  return { name: decodeURIComponent(username), password: decodeURIComponent(password) };
}

/** The group of the admins: roles belong to all databases of a Postgres, and each waitlist has admins of its own. */
export function adminsGroup(database: string): string {
  return database === "perennial" ? "perennial_admins" : `perennial_admins_${database}`;
}

/** The owner lacks rights; the message has the SQL for an administrator. */
export class MissingRightError extends OperatorError {
  override name = "MissingRightError";

  constructor(statements: string[]) {
    super(
      [
        "The role of DATABASE_OWNER_URL lacks rights. As an administrator of this database, run:",
        ...statements.map((sql) => `  ${printable(sql)}`),
        "and start again.",
      ].join("\n"),
    );
  }
}

/** A paragraph of roles.sql. */
interface Step {
  sql: string;
  /** Condition of a step that runs before the migrations. */
  unless?: string | undefined;
  /** Without passwords. */
  printed: string[];
}

/**
 * Creates missing roles and schemas.
 * @returns the statements that it ran, without passwords.
 * @throws MissingRightError with everything that is missing if the owner may not create it.
 */
export async function createRoles(owner: pg.Client, urls: DatabaseUrls): Promise<string[]> {
  const { rows } = await owner.query(
    "SELECT rolsuper OR rolcreaterole AS may FROM pg_roles WHERE rolname = current_user",
  );
  const steps = (await readSteps(owner, urls)).filter(({ unless }) => unless !== undefined);
  const done: string[] = [];
  const missing: string[] = [];
  for (const step of steps) {
    if (await isDone(owner, step)) continue;
    // Not tried without the right: Postgres would write a refused statement into its log, with the password.
    if (rows[0].may || !step.sql.startsWith("CREATE ROLE")) {
      await owner.query(step.sql).catch((error: { code?: string }) => {
        // insufficient_privilege; undefined_object, after a role that could not be created
        if (!["42501", "42704"].includes(error.code ?? "")) throw error;
      });
    }
    // Postgres only warns if the owner may not grant a right on another role's object.
    ((await isDone(owner, step)) ? done : missing).push(...step.printed);
  }
  if (missing.length > 0) throw new MissingRightError([...new Set(missing)]);
  return done;
}

/** Grants each role its rights, and revokes every other one on the site's own objects, in one transaction: a running site never finds its INSERT revoked. */
export async function grantRights(owner: pg.Client, urls: DatabaseUrls): Promise<void> {
  const steps = (await readSteps(owner, urls)).filter(({ unless }) => unless === undefined);
  await owner.query(`BEGIN; ${steps.map(({ sql }) => sql).join("\n")} COMMIT`);
}

async function isDone(owner: pg.Client, { unless }: Step): Promise<boolean> {
  return (await owner.query(`SELECT ${unless} AS done`)).rows[0].done === true;
}

/** Reads the steps that these settings need. Leaves out a role that is a superuser or the owner: it has every right. */
async function readSteps(owner: pg.Client, urls: DatabaseUrls): Promise<Step[]> {
  const text = (await readFile(join(projectRoot, "prisma/roles.sql"), "utf8")).replaceAll("\r\n", "\n");
  const named = { web: urls.webUrl, studio: urls.adminUrl, worker: urls.worker?.url };
  const roles = Object.entries(named).flatMap(([section, url]) => (url ? { section, role: readRole(url) } : []));
  const privileged = await listPrivileged(
    owner,
    roles.map(({ role }) => role.name),
  );
  const restricted = roles.filter(({ role }) => !privileged.has(role.name));
  const sections = new Set([
    "owner",
    "public",
    ...restricted.map(({ section }) => section),
    ...(urls.worker ? ["queue", ...urls.worker.tasks] : []),
    ...(urls.erasureKey ? ["erasures"] : []),
  ]);
  const { rows } = await owner.query<{ owner: string; database: string }>(
    "SELECT current_user AS owner, current_database() AS database",
  );
  const values = new Map(Object.entries({ ...rows[0], admins: adminsGroup(rows[0]?.database ?? "") }));
  for (const { section, role } of restricted) {
    values.set(section, role.name);
    values.set(`${section}_password`, role.password);
  }
  return parse(text, sections, values);
}

function parse(text: string, sections: Set<string>, values: Map<string, string>): Step[] {
  const steps: Step[] = [];
  let isWanted = false;
  for (const paragraph of text.split(/\n{2,}/)) {
    const header = /^-- ==== ([a-z ]+)(?::| ====)/.exec(paragraph)?.[1];
    if (header)
      isWanted = header
        .trim()
        .split(" ")
        .every((word) => sections.has(word));
    const sql = paragraph.replaceAll(/^--.*\n?/gm, "").trim();
    if (!isWanted || sql === "") continue;
    const unless = /^-- unless (.+)$/m.exec(paragraph)?.[1];
    const fill = (template: string) => fillIn(template, (name) => values.get(name) ?? "");
    const printed = fillIn(sql, (name) => (name.endsWith("_password") ? "its password" : (values.get(name) ?? "")));
    steps.push({ sql: fill(sql), unless: unless && fill(unless), printed: printed.split("\n") });
  }
  return steps;
}

/** Replaces :"name" by an identifier and :'name' by a literal, as psql does, and :sign_up_columns by the columns. */
function fillIn(template: string, valueOf: (name: string) => string): string {
  const sql = template.replaceAll(":sign_up_columns", signUpColumns);
  return sql.replaceAll(/:(["'])(\w+)\1/g, (_, quote: string, name: string) =>
    quote === '"' ? pg.escapeIdentifier(valueOf(name)) : pg.escapeLiteral(valueOf(name)),
  );
}

/** An SQL condition: the role `r` is a superuser or may act as the owner of the waitlist `w`, or of the coming one. */
const isPrivileged = "r.rolsuper OR pg_has_role(r.oid, coalesce(w.relowner, to_regrole(quote_ident($2))), 'MEMBER')";
const rolesAndWaitlist = "pg_roles r LEFT JOIN pg_class w ON w.oid = to_regclass('public.earlyaccess')";

async function listPrivileged(owner: pg.Client, names: string[]): Promise<Set<string>> {
  const { rows } = await owner.query<{ name: string }>(
    `SELECT r.rolname AS name FROM ${rolesAndWaitlist} WHERE r.rolname = ANY ($1) AND (${isPrivileged})`,
    [names, owner.user],
  );
  return new Set(rows.map(({ name }) => name));
}

/**
 * Examines the web role, as any role. Returns whether it is a superuser or the owner, and a warning of what a compromised web
 * process could do; none if that could not read, change or delete entries.
 */
export async function examineWebRole(client: pg.Client, { webUrl, ownerUrl }: DatabaseUrls) {
  const { name } = readRole(webUrl);
  const { rows } = await client.query<{ privileged: boolean; rights: string[] }>(
    `SELECT ${isPrivileged} AS privileged, array_remove(ARRAY[
       CASE WHEN has_any_column_privilege(r.oid, w.oid, 'SELECT') THEN 'SELECT' END,
       CASE WHEN has_any_column_privilege(r.oid, w.oid, 'UPDATE') THEN 'UPDATE' END,
       CASE WHEN has_table_privilege(r.oid, w.oid, 'DELETE') THEN 'DELETE' END], NULL) AS rights
     FROM ${rolesAndWaitlist} WHERE r.rolname = $1`,
    [name, readRole(ownerUrl).name],
  );
  const { privileged = false, rights = [] } = rows[0] ?? {};
  const role = `The role of DATABASE_URL, "${name}",`;
  if (privileged) {
    const warning = `${role} is a superuser or the owner of the waitlist: a compromised web process could read and delete everything. Name a role of its own in DATABASE_URL, for example perennial_web, and the owner in DATABASE_OWNER_URL; migrating creates the role.`;
    return { isPrivileged: true, warning };
  }
  if (rights.length === 0) return { isPrivileged: false, warning: undefined };
  const warning = `${role} has ${rights.join(", ")} on entries: a compromised web process could use it. Migrating revokes its own rights and those of PUBLIC. Look for others with \\dp earlyaccess and \\du in psql: a membership, for example, or a grant by another role.`;
  return { isPrivileged: false, warning };
}
