// The roles that the settings name: creates them and sets their rights.
import pg from "pg";
import { readDatabase, readRole, type DatabaseSettings, type WorkerTask } from "../config/database-urls.ts";
import { signUpColumns } from "./columns.ts";

const id = pg.escapeIdentifier;

/** Returns the roles of the settings, as SQL identifiers. One that is the owner, too, has every right and is left out. */
function readRoles({ ownerUrl, webUrl, adminUrl, worker }: DatabaseSettings) {
  const owner = readRole(ownerUrl).name;
  const database = readDatabase(ownerUrl);
  const logins = new Map<string, string>();
  const add = (url = ownerUrl) => {
    const { name, password } = readRole(url);
    if (name === owner) return undefined;
    logins.set(name, password);
    return id(name);
  };
  const roles = { web: add(webUrl), studio: add(adminUrl), worker: add(worker?.url) };
  const group = adminsGroup(database);
  return { ...roles, owner: id(owner), database: id(database), group, admins: id(group), logins };
}

// A forgotten transaction holds the entries that it changed, and sign-ups of their addresses get 503.
const createLoginSql = (name: string, passwordSql: string) =>
  `CREATE ROLE ${id(name)} LOGIN PASSWORD ${passwordSql};
ALTER ROLE ${id(name)} SET idle_in_transaction_session_timeout = '30s';`;

/** Creates missing roles. @throws an error with the code 42501 if the owner may not. */
export async function createRoles(owner: pg.Client, settings: DatabaseSettings): Promise<void> {
  const { logins, studio, group, admins } = readRoles(settings);
  const { rows } = await owner.query(
    `SELECT rolsuper OR rolcreaterole AS "mayCreate", ARRAY(SELECT rolname::text FROM pg_roles) AS existing,
       EXISTS (SELECT FROM pg_auth_members WHERE roleid = to_regrole($1) AND member = to_regrole($2)) AS "isMember"
     FROM pg_roles WHERE rolname = current_user`,
    [admins, studio],
  );
  const { mayCreate, existing, isMember } = rows[0] as { mayCreate: boolean; existing: string[]; isMember: boolean };
  for (const [name, password] of logins) {
    if (existing.includes(name)) continue;
    // Without trying: Postgres would log the refused statement with its password.
    if (!mayCreate) throw Object.assign(new Error(`permission denied to create the role ${name}`), { code: "42501" });
    await owner.query(createLoginSql(name, pg.escapeLiteral(password)));
  }
  if (studio && !existing.includes(group)) await owner.query(`CREATE ROLE ${admins} NOLOGIN`);
  if (studio && !isMember) await owner.query(`GRANT ${admins} TO ${studio}`);
}

/** Returns the SQL for an administrator, whom an owner without the rights needs. */
export function rolesSql(settings: DatabaseSettings): string {
  const { owner, database, web, studio, worker, admins, logins } = readRoles(settings);
  const users = [web, studio && admins, worker].filter(Boolean).join(", ");
  const statements = [
    ...Array.from(logins.keys(), (name) => createLoginSql(name, "'its password'")),
    studio && `CREATE ROLE ${admins} NOLOGIN;\nGRANT ${admins} TO ${studio};`,
    users && `GRANT CONNECT ON DATABASE ${database} TO ${users};\nGRANT USAGE ON SCHEMA public TO ${users};`,
    `GRANT CREATE ON DATABASE ${database} TO ${owner};`,
  ];
  return statements.filter(Boolean).join("\n");
}

/** Returns the SQL with which an administrator prepares a Postgres. */
export function preparationSql(settings: DatabaseSettings): string {
  const { owner, database } = readRoles(settings);
  return `-- As an administrator of Postgres:
CREATE ROLE ${owner} LOGIN CREATEROLE PASSWORD 'its password';
CREATE DATABASE ${database} OWNER ${owner} TEMPLATE template0 ENCODING 'UTF8';
-- In that database, so that only the owner keeps two rights, for migrations and imports:
GRANT CREATE ON SCHEMA public TO ${owner};
GRANT TEMPORARY ON DATABASE ${database} TO ${owner};
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
REVOKE TEMPORARY ON DATABASE ${database} FROM PUBLIC;
-- Only for an owner without CREATEROLE, or of the schema alone:
${rolesSql(settings)}
`;
}

const tables = `public.earlyaccess, public.earlyaccess_status_changes, public.earlyaccess_notices, public.earlyaccess_views,
  public.earlyaccess_backups, public.earlyaccess_mail_passes, earlyaccess_kept.keys, earlyaccess_kept.addresses,
  earlyaccess_kept.mailings, earlyaccess_kept.mailing_recipients`;
const functions = `public.earlyaccess_append_only(), public.earlyaccess_log_status(), public.earlyaccess_enqueue(),
  public.earlyaccess_queue_mail(uuid), public.earlyaccess_replace_suspected_spam(), public.earlyaccess_confirm(bytea),
  public.earlyaccess_leave(bytea), public.earlyaccess_count_views(date, text, int), earlyaccess_kept.hash_email(text),
  earlyaccess_kept.erasure_of(text), earlyaccess_kept.keep_erased(uuid[]), earlyaccess_kept.brought_back(), earlyaccess_kept.erase_again()`;

/** The queue's tables hide their rows from everybody but their owner. Rights protect them, as they do the other tables. */
const showQueueSql = `DO $$ DECLARE hidden regclass; BEGIN
  FOR hidden IN SELECT oid FROM pg_class WHERE relnamespace = 'graphile_worker'::regnamespace AND relrowsecurity LOOP
    EXECUTE format('ALTER TABLE %s DISABLE ROW LEVEL SECURITY', hidden);
  END LOOP;
END $$;`;

/** From everybody, before the rights are granted anew. */
const revokeSql = (everybody: string) =>
  `REVOKE ALL ON ${tables} FROM ${everybody} CASCADE;
   REVOKE ALL ON FUNCTION ${functions} FROM ${everybody} CASCADE;
   REVOKE ALL ON SCHEMA earlyaccess_kept FROM ${everybody} CASCADE;`;

/** Postgres only warns if the owner may not grant these, which every role has by default. */
const connectSql = (database: string, users: string) =>
  `GRANT CONNECT ON DATABASE ${database} TO ${users}; GRANT USAGE ON SCHEMA public TO ${users};`;

/** The site stores sign-ups, notices and page views, and follows links. Without SELECT, it cannot read the list. */
const webRightsSql = (web: string) =>
  `GRANT INSERT (${signUpColumns}) ON public.earlyaccess TO ${web};
   GRANT INSERT (id, text) ON public.earlyaccess_notices TO ${web};
   GRANT EXECUTE ON FUNCTION public.earlyaccess_confirm(bytea), public.earlyaccess_leave(bytea),
     public.earlyaccess_count_views(date, text, int) TO ${web};`;

/** A group that cannot log in. Studio's login and personal logins (docs/admins.md) are its members, and have no rights of their own. */
const adminRightsSql = (admins: string) =>
  `GRANT SELECT, DELETE, UPDATE (status, invitation) ON public.earlyaccess TO ${admins};
   GRANT SELECT ON public.earlyaccess_status_changes, public.earlyaccess_notices TO ${admins};`;

/** The worker empties the queue. */
const workerRightsSql = (worker: string) =>
  `GRANT USAGE ON SCHEMA graphile_worker TO ${worker};
   GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA graphile_worker TO ${worker};
   REVOKE INSERT, UPDATE, DELETE ON graphile_worker.migrations FROM ${worker};
   ${showQueueSql}`;

const taskRightsSql: Record<WorkerTask, (worker: string) => string> = {
  // The columns that a webhook contains, without name and address.
  webhook: (worker) =>
    `GRANT SELECT (id, company, created_at, utm_source, utm_medium, utm_campaign, utm_term, utm_content, referrer_host)
       ON public.earlyaccess TO ${worker};`,
  // The address, the state of the mail, the pace of mails, when an address left or was erased, and mailings; neither hash nor key.
  mail: (worker) =>
    `GRANT SELECT (id, email, status, mail_tokens, mailed_at, mail_refusal, confirmed_at, suspected_spam),
       UPDATE (mail_tokens, mailed_at, mail_refusal) ON public.earlyaccess TO ${worker};
     GRANT SELECT, INSERT, UPDATE, DELETE ON public.earlyaccess_mail_passes TO ${worker};
     GRANT USAGE ON SCHEMA earlyaccess_kept TO ${worker};
     GRANT EXECUTE ON FUNCTION earlyaccess_kept.erasure_of(text) TO ${worker};
     GRANT SELECT, UPDATE (next_at, active_at, failing_since, reason) ON earlyaccess_kept.mailings TO ${worker};
     GRANT SELECT, UPDATE (outcome, tries, due_at, tried_at, reply, token_hash)
       ON earlyaccess_kept.mailing_recipients TO ${worker};`,
  // Purged entries stay erased. For UNCONFIRMED_DAYS, purge also reads columns of mails, which that setting needs.
  purge: (worker) =>
    `GRANT SELECT (id, created_at, imported), DELETE ON public.earlyaccess TO ${worker};
     GRANT USAGE ON SCHEMA earlyaccess_kept TO ${worker};
     GRANT EXECUTE ON FUNCTION earlyaccess_kept.keep_erased(uuid[]), earlyaccess_kept.erase_again() TO ${worker};`,
};

/**
 * Returns the SQL that revokes every right of the roles and of PUBLIC on what is the site's, and grants those that are needed. A role
 * that is no longer configured keeps its rights: drop it.
 */
export function rightsSql(settings: DatabaseSettings): string {
  const { database, web, studio, admins, worker } = readRoles(settings);
  const everybody = ["PUBLIC", web, studio, studio && admins, worker].filter(Boolean).join(", ");
  const users = [web, studio && admins, worker].filter(Boolean).join(", ");
  const tasks = settings.worker?.tasks ?? [];
  const statements = [
    revokeSql(everybody),
    users && connectSql(database, users),
    web && webRightsSql(web),
    studio && adminRightsSql(admins),
    worker && workerRightsSql(worker),
    ...tasks.map((task) => worker && taskRightsSql[task](worker)),
  ];
  return statements.filter(Boolean).join("\n");
}

/** Names the group of the admins. Roles belong to all databases of a Postgres, and each waitlist has admins of its own. */
export function adminsGroup(database: string): string {
  return database === "perennial" ? "perennial_admins" : `perennial_admins_${database}`;
}
