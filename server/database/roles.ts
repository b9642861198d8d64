// The roles of the site: creates them, and runs the files in prisma/roles.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { signUpColumns } from "./columns.ts";
import { readRole } from "../config/database-urls.ts";
import { OperatorError } from "../errors.ts";
import { begin, readLogin } from "./connect.ts";
import { projectRoot } from "../project-root.ts";
import type { DatabaseSettings } from "./settings.ts";
import { isPrivileged, rolesAndWaitlist } from "./web-role.ts";

const folder = join(projectRoot, "prisma/roles");

/** The group of the admins: roles belong to all databases of a Postgres, and each waitlist has admins of its own. */
export function adminsGroup(database: string): string {
  return database === "perennial" ? "perennial_admins" : `perennial_admins_${database}`;
}

type Role = ReturnType<typeof readRole>;

/** What the owner may lack the right to do. The password takes the place of the text 'its password'. */
type Step = [unless: string, sql: string, password?: string];

const id = pg.escapeIdentifier;

/** In the order in which they can be run. */
function listSteps(
  { web, studio, worker, owner, admins, database }: Awaited<ReturnType<typeof readRoles>>,
  settings: DatabaseSettings,
): Step[] {
  const roleOf = (name: string) => `to_regrole(quote_ident(${pg.escapeLiteral(name)}))`;
  const exists = (name: string) => `${roleOf(name)} IS NOT NULL`;
  // A forgotten transaction holds the entries that it changed, and sign-ups of their addresses get 503.
  const login = ({ name, password }: Role): Step => [
    exists(name),
    `CREATE ROLE ${id(name)} LOGIN PASSWORD 'its password';
ALTER ROLE ${id(name)} SET idle_in_transaction_session_timeout = '30s';`,
    password,
  ];
  const access = (name: string): Step => [
    `has_database_privilege(${roleOf(name)}, current_database(), 'CONNECT') AND has_schema_privilege(${roleOf(name)}, 'public', 'USAGE')`,
    `GRANT CONNECT ON DATABASE ${id(database)} TO ${id(name)};
GRANT USAGE ON SCHEMA public TO ${id(name)};`,
  ];
  const group = (member: Role): Step[] => [
    [exists(admins), `CREATE ROLE ${id(admins)} NOLOGIN;`],
    login(member),
    [`pg_has_role(${roleOf(member.name)}, ${roleOf(admins)}, 'MEMBER')`, `GRANT ${id(admins)} TO ${id(member.name)};`],
    access(admins),
  ];
  const erasures: Step = [
    "to_regnamespace('earlyaccess_erasures') IS NOT NULL",
    `CREATE SCHEMA earlyaccess_erasures AUTHORIZATION ${id(owner)};`,
  ];
  const queue: Step = [
    "has_database_privilege(current_database(), 'CREATE') OR to_regnamespace('graphile_worker') IS NOT NULL",
    `GRANT CREATE ON DATABASE ${id(database)} TO ${id(owner)};`,
  ];
  return [
    // The table of migrations may belong to another application that uses Prisma.
    [
      "coalesce(has_table_privilege(to_regclass('public._prisma_migrations'), 'INSERT'), true)",
      `GRANT SELECT, INSERT, UPDATE ON public._prisma_migrations TO ${id(owner)};`,
    ],
    ...(web ? [login(web), access(web.name)] : []),
    ...(studio ? group(studio) : []),
    ...(settings.erasureKey ? [erasures] : []),
    ...(settings.worker ? [queue] : []),
    ...(worker ? [login(worker), access(worker.name)] : []),
  ];
}

/** Creates missing roles and schemas, and commits. @throws OperatorError with the SQL for an administrator if the owner lacks rights. */
export async function createRoles(owner: pg.Client, settings: DatabaseSettings): Promise<void> {
  const isTrue = async (sql: string) => (await owner.query(`SELECT (${sql}) AS value`)).rows[0].value === true;
  const mayCreate = await isTrue("SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user");
  const missing: string[] = [];
  const [login, { name }] = [await readLogin(owner), readRole(settings.ownerUrl)];
  for (const [unless, sql, password] of listSteps(await readRoles(owner, settings), settings)) {
    if (await isTrue(unless)) continue;
    if (login !== name && password !== undefined) {
      const fault = `The user "${name}" of DATABASE_OWNER_URL logs in as "${login}", so a pooler would not find a new role under its name.`;
      throw new OperatorError(`${fault} Migrate with URLs of Postgres itself. See docs/postgres.md, Poolers.`);
    }
    // Not tried without the right: Postgres would write a refused statement into its log, with the password.
    if (mayCreate || password === undefined) {
      const statement = sql.replace("PASSWORD 'its password'", () => `PASSWORD ${pg.escapeLiteral(password ?? "")}`);
      await owner.query(`SAVEPOINT step; ${statement}`).catch(async (error: { code?: string }) => {
        // insufficient_privilege; undefined_object, after a role that could not be created
        if (!["42501", "42704"].includes(error.code ?? "")) throw error;
        await owner.query("ROLLBACK TO step");
      });
    }
    // Postgres only warns if the owner may not grant a right on another role's object.
    if (!(await isTrue(unless))) missing.push(...sql.split("\n"));
  }
  await owner.query(`COMMIT; ${begin}`);
  if (missing.length === 0) return;
  const lines = missing.map((sql) => `  ${sql}\n`).join("");
  throw new OperatorError(
    `The role of DATABASE_OWNER_URL lacks rights. As an administrator of this database, run:\n${lines}and start again.`,
  );
}

/**
 * Grants each role its rights, revokes every other one on the site's own objects, and commits: a running site never finds
 * its INSERT revoked. A role that is no longer configured keeps its rights: drop it.
 */
export async function grantRights(owner: pg.Client, settings: DatabaseSettings): Promise<void> {
  const { admins, web, studio, worker } = await readRoles(owner, settings);
  const parts = new Set([
    "public",
    ...(web ? ["web"] : []),
    ...(studio ? ["admins"] : []),
    ...(settings.erasureKey ? ["erasures"] : []),
    ...(worker ? ["worker", ...(settings.worker?.tasks ?? [])] : []),
  ]);
  // The file worker-mail.sql is for a worker with the task mail, and follows worker.sql.
  const names = (await readdir(folder)).map((file) => file.replace(".sql", "").split("-"));
  const wanted = names.filter((name) => name.every((part) => parts.has(part))).toSorted((a, b) => a.length - b.length);
  const texts = wanted.map((name) => readFile(join(folder, `${name.join("-")}.sql`), "utf8"));
  const values = { admins, web: web?.name, studio: studio?.name, worker: worker?.name, sign_up_columns: signUpColumns };
  await owner.query(`${fillIn((await Promise.all(texts)).join("\n"), values)} COMMIT; ${begin}`);
}

/** Replaces :"name" by an identifier, and :name by the text, as psql does. */
export function fillIn(sql: string, values: Record<string, string | undefined>): string {
  return sql.replaceAll(/:"(\w+)"|\B:(\w+)/g, (_, quoted?: string, plain = "") =>
    quoted ? id(values[quoted] ?? "") : (values[plain] ?? ""),
  );
}

/** Returns the roles of the settings without those that are superuser or owner, which have every right. */
async function readRoles(owner: pg.Client, { webUrl, adminUrl, worker }: DatabaseSettings) {
  const { rows } = await owner.query<{ owner: string; database: string; privileged: string[] }>(
    `SELECT current_user AS owner, current_database() AS database,
       ARRAY(SELECT r.rolname::text FROM ${rolesAndWaitlist} WHERE ${isPrivileged}) AS privileged`,
  );
  const { privileged = [], owner: name = "", database = "" } = rows[0] ?? {};
  const restricted = (url = "") => (url && !privileged.includes(readRole(url).name) ? readRole(url) : undefined);
  return {
    web: restricted(webUrl),
    studio: restricted(adminUrl),
    worker: restricted(worker?.url),
    owner: name,
    database,
    admins: adminsGroup(database),
  };
}
