// The outbox of notices: the queue of graphile-worker, which a trigger fills in the transaction of each sign-up.
import type pg from "pg";
import { noticeColumns } from "../models/notice.ts";
import { flags } from "../models/waitlist-entry.ts";
import { OperatorError } from "../operator-error.ts";
import { ownObjects } from "./own-objects.ts";
import type { Right } from "./rights.ts";
import { MissingRightError, setUpRole, type RestrictedRole } from "./roles.ts";

/** The queue, and of an entry what a notice says, which is neither name nor address. */
export const senderRights: Right[] = [
  ...[...noticeColumns, ...flags].map((column): Right => ({
    table: "public.earlyaccess",
    privilege: "SELECT",
    column,
  })),
  ...(["SELECT", "INSERT", "UPDATE", "DELETE"] as const).map((privilege): Right => ({
    table: "graphile_worker.*",
    privilege,
  })),
];

/**
 * Switches the outbox on, with a role that may send from it, or off, so that nothing piles up that nobody sends.
 * @param sender undefined where no notices are wanted.
 * @returns the statements that changed something, without the password.
 * @throws MissingRightError where the owner may not; OperatorError if another application has the queue's schema.
 */
export async function setUpOutbox(owner: pg.Client, ownerUrl: string, sender?: RestrictedRole): Promise<string[]> {
  const made: string[] = [];
  if (sender) {
    await refuseForeignQueue(owner);
    await makeQueue(owner, ownerUrl);
    made.push(...(await setUpRole(owner, sender)));
    made.push(...(await runAll(owner, await missingPolicies(owner, sender.name))));
  }
  const enabled = await announces(owner);
  if (enabled === Boolean(sender)) return made;
  const change = enabled ? "DISABLE" : "ENABLE";
  return [...made, ...(await runAll(owner, [`ALTER TABLE public.earlyaccess ${change} TRIGGER earlyaccess_announce`]))];
}

/** Whether sign-ups leave something in the outbox; undefined in a database that is not migrated. */
export async function announces(owner: pg.Client): Promise<boolean | undefined> {
  const { rows } = await owner.query(
    "SELECT tgenabled <> 'D' AS enabled FROM pg_trigger WHERE tgrelid = to_regclass('public.earlyaccess') AND tgname = 'earlyaccess_announce'",
  );
  return rows[0]?.enabled as boolean | undefined;
}

/** @throws OperatorError if the schema graphile_worker belongs to another application. */
export async function refuseForeignQueue(client: pg.Client): Promise<void> {
  const foreign = await describeForeignQueue(client);
  if (foreign) throw new OperatorError(foreign);
}

/**
 * Returns a sentence if another application made the schema graphile_worker. The site makes it as the waitlist's owner,
 * or as a role that may act as the owner.
 */
export async function describeForeignQueue(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client.query<{ owner: string }>(
    `WITH ${ownObjects}
     SELECT r.rolname AS owner FROM pg_namespace JOIN pg_roles r ON r.oid = nspowner, waitlist
     WHERE nspname = 'graphile_worker' AND r.rolname <> current_user AND r.oid <> relowner
       AND (r.rolsuper OR NOT pg_has_role(r.oid, relowner, 'MEMBER'))`,
  );
  if (!rows[0]) return undefined;
  return `The schema graphile_worker belongs to "${rows[0].owner}": another application in this database uses the same queue. Unset NOTIFY_WEBHOOK_URL, or give the site a database of its own.`;
}

async function makeQueue(owner: pg.Client, ownerUrl: string): Promise<void> {
  const { rows } = await owner.query(
    `SELECT format('GRANT CREATE ON DATABASE %I TO %I', current_database(), current_user) AS statement
     WHERE to_regnamespace('graphile_worker') IS NULL AND NOT has_database_privilege(current_database(), 'CREATE')`,
  );
  if (rows[0]) throw new MissingRightError("make the schema of the queue of notices", [rows[0].statement as string]);
  const { Logger, runMigrations } = await import("graphile-worker"); // Half a megabyte that only some need.
  await runMigrations({ connectionString: ownerUrl, logger: new Logger(() => () => undefined) });
}

async function runAll(owner: pg.Client, statements: string[]): Promise<string[]> {
  for (const statement of statements) await owner.query(statement);
  return statements;
}

/** The queue's tables have row level security: only their owner sees rows without a policy. */
async function missingPolicies(owner: pg.Client, sender: string): Promise<string[]> {
  const { rows } = await owner.query<{ statement: string }>(
    `SELECT format('CREATE POLICY %I ON %s TO %I USING (true)', rolname, c.oid::regclass, rolname) AS statement
     FROM pg_roles r, pg_class c
     WHERE rolname = $1 AND rolname <> current_user AND relnamespace = 'graphile_worker'::regnamespace AND relrowsecurity
       AND NOT EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid AND r.oid = ANY (polroles))`,
    [sender],
  );
  return rows.map(({ statement }) => statement);
}
