// Invitations: groups of people, in the order of their sign-ups.
import pg from "pg";
import { OperatorError, printable } from "../../errors.ts";
import { sourceSql } from "../source.ts";

/** An SQL condition: a spreadsheet could run the address as a command. The lists of invitations guard no address. */
const commandSql = "(email ~ '^[=+@-]' AND email ~ '[|!]')";

export interface InvitationFilter {
  /** As stats names it. */
  source?: string | undefined;
  confirmed?: boolean | undefined;
  emails?: string[] | undefined;
}

/** Returns the SQL condition of those who can be invited, and of those who cannot because of their address. */
export function invitableSql({ source, confirmed, emails }: InvitationFilter): { invitable: string; unsafe: string } {
  const conditions = ["status = 'waiting'", "NOT suspected_spam"];
  if (source !== undefined) conditions.push(`${sourceSql} = ${pg.escapeLiteral(source)}`);
  if (confirmed) conditions.push("confirmed_at IS NOT NULL");
  if (emails) {
    conditions.push(`email IN (SELECT json_array_elements_text(${pg.escapeLiteral(JSON.stringify(emails))}))`);
  }
  const due = conditions.join(" AND ");
  return { invitable: `${due} AND NOT ${commandSql}`, unsafe: `${due} AND ${commandSql}` };
}

export async function listEmails(client: pg.Client, condition: string): Promise<string[]> {
  const { rows } = await client.query(`SELECT email FROM public.earlyaccess WHERE ${condition}`);
  return rows.map(({ email }) => email as string);
}

export async function countWaiting(client: pg.Client, condition: string): Promise<number> {
  const { rows } = await client.query(`SELECT count(*)::int AS people FROM public.earlyaccess WHERE ${condition}`);
  return rows[0].people as number;
}

/** Returns a name with the time in UTC and the transaction's number, which Postgres never gives twice. */
export async function nameInvitation(client: pg.Client): Promise<string> {
  const { rows } = await client.query(
    "SELECT to_char(CURRENT_TIMESTAMP, 'YYYY-MM-DD-HH24MI-') || pg_current_xact_id() AS invitation",
  );
  return rows[0].invitation as string;
}

/**
 * Invites the oldest, all if `first` is undefined, and returns their number. Skips entries that another transaction holds, so two runs
 * never invite the same person.
 */
export async function inviteOldest(
  client: pg.Client,
  first: number | undefined,
  condition: string,
  invitation: string,
): Promise<number> {
  // ARRAY, because Postgres may run a subquery of IN more than once.
  const update = `UPDATE public.earlyaccess SET status = 'invited', invitation = $2 WHERE id = ANY (ARRAY(
    SELECT id FROM public.earlyaccess WHERE ${condition} ORDER BY created_at, id LIMIT $1 FOR UPDATE SKIP LOCKED))`;
  const { rowCount } = await client.query(update, [first, invitation]);
  return rowCount ?? 0;
}

export async function revertInvitation(client: pg.Client, invitation: string): Promise<number> {
  // The order of locks is that of sign-ups and imports, against deadlocks.
  const update = `UPDATE public.earlyaccess SET status = 'waiting', invitation = NULL WHERE id = ANY (ARRAY(
    SELECT id FROM public.earlyaccess WHERE invitation = $1 AND status = 'invited' ORDER BY email COLLATE "C" FOR UPDATE))`;
  const { rowCount } = await client.query(update, [invitation]);
  return requireInvited(rowCount ?? 0, invitation);
}

/** @throws OperatorError if there is nobody. */
export function requireInvited(people: number, invitation: string): number {
  if (people > 0) return people;
  throw new OperatorError(
    `Nobody of the invitation "${printable(invitation)}" is still invited. See: waitlist invite --list`,
  );
}

/** Entries per statement. They are few, because a sign-up of an address whose entry a statement holds gets 503. */
const batchSize = 1_000;

/** Sets the addresses that are waiting or invited to joined. Returns the status that each address of the list had before. */
export async function markJoined(client: pg.Client, emails: string[]): Promise<Map<string, string>> {
  // The order of locks is that of sign-ups and imports, against deadlocks. The last SELECT reads the state before the UPDATE.
  const update = `WITH due AS (
      SELECT id FROM public.earlyaccess WHERE email = ANY ($1) AND status IN ('waiting', 'invited')
      ORDER BY email COLLATE "C" FOR UPDATE
    ), changed AS (UPDATE public.earlyaccess SET status = 'joined' WHERE id IN (SELECT id FROM due))
    SELECT email, status FROM public.earlyaccess WHERE email = ANY ($1)`;
  const before = new Map<string, string>();
  for (let done = 0; done < emails.length; done += batchSize) {
    const { rows } = await client.query(update, [emails.slice(done, done + batchSize)]);
    for (const { email, status } of rows) before.set(email, status);
  }
  return before;
}

export async function listInvitations(client: pg.Client) {
  // The number at the end of a name has no leading zeros.
  const { rows } = await client.query<{ invitation: string } & Record<"people" | "invited" | "joined", number>>(
    `SELECT invitation, count(*)::int AS people, (count(*) FILTER (WHERE status = 'invited'))::int AS invited,
            (count(*) FILTER (WHERE status = 'joined'))::int AS joined
     FROM public.earlyaccess WHERE invitation IS NOT NULL
     GROUP BY invitation ORDER BY left(invitation, 15) DESC, length(invitation) DESC, invitation DESC`,
  );
  return rows;
}
