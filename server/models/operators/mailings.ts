// Mailings, as the command adds people to them, stops and lists them. What the worker asks and records: mailing-delivery.ts.
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import pg from "pg";
import { to as copyTo } from "pg-copy-streams";
import { homeSql } from "../../database/kept-schema.ts";
import { OperatorError, printable } from "../../errors.ts";
import { normaliseEmail } from "../sign-up-rules.ts";
import { guard } from "./csv-guard.ts";
import type { Person } from "./erasures.ts";

const defaultPerHour = 200;

/** Whom a mailing goes to, beside people who confirmed their address. */
export interface Audience {
  unconfirmed?: boolean | undefined;
  imported?: boolean | undefined;
  /** Only people of this invitation. */
  invitation?: string | undefined;
  /** Only people who had or may have had this mailing, also unconfirmed and imported ones. */
  sent?: string | undefined;
}

interface Candidate {
  id: string;
  email: string;
}

export type Reason =
  "joined" | "left" | "flagged" | "refused" | "onIt" | "others" | "imported" | "unconfirmed" | "misspelt";

export interface Candidates {
  /** The oldest first, or those of an earlier mailing in its order. */
  chosen: Candidate[];
  /** Numbers of the others, by the first reason. */
  leftOut: Partial<Record<Reason, number>>;
  entries: number;
}

/** Finds those who can get the mailing and have not had it. Whoever was skipped or given up can. */
export async function findCandidates(client: pg.Client, name: string, audience: Audience): Promise<Candidates> {
  if (audience.sent !== undefined) await requireMailing(client, audience.sent);
  if (audience.invitation !== undefined) await requireInvitation(client, audience.invitation);
  const { rows } = await client.query<Candidate & { reason: Reason | null }>(
    `SELECT id, email, CASE
       WHEN status IN ('joined', 'left') THEN status::text
       WHEN suspected_spam THEN 'flagged'
       WHEN mail_refusal IS NOT NULL OR id IN (
         SELECT entry_id FROM earlyaccess_kept.mailing_recipients WHERE outcome LIKE '5%') THEN 'refused'
       WHEN recipient.entry_id IS NOT NULL THEN 'onIt'
       WHEN $2::text IS NOT NULL AND invitation IS DISTINCT FROM $2 OR $3::text IS NOT NULL AND earlier.entry_id IS NULL THEN 'others'
       WHEN confirmed_at IS NOT NULL OR $3 IS NOT NULL THEN NULL
       WHEN imported AND $4 OR NOT imported AND $5 THEN NULL
       WHEN imported THEN 'imported' ELSE 'unconfirmed' END AS reason
     FROM public.earlyaccess AS entry
     LEFT JOIN earlyaccess_kept.mailing_recipients AS recipient
       ON recipient.name = $1 AND recipient.entry_id = id AND coalesce(recipient.outcome NOT IN ('skipped', 'given up'), true)
     LEFT JOIN earlyaccess_kept.mailing_recipients AS earlier
       ON earlier.name = $3 AND earlier.entry_id = id AND earlier.outcome IN ('sent', 'unknown')
     ORDER BY earlier.place, entry.created_at, id`,
    [name, audience.invitation, audience.sent, audience.imported === true, audience.unconfirmed === true],
  );
  const leftOut: Candidates["leftOut"] = {};
  const chosen = rows.filter(({ email, reason: found }) => {
    // The list, edited by hand, may have an address in two spellings.
    const reason = found ?? (normaliseEmail(email) === email ? null : "misspelt");
    if (reason) leftOut[reason] = (leftOut[reason] ?? 0) + 1;
    return reason === null;
  });
  return { chosen, leftOut, entries: rows.length };
}

export interface Order {
  name: string;
  text: string;
  /** Undefined: as stored. */
  perHour: number | undefined;
  /** How many people to add, the oldest first. */
  people: number;
  audience: Audience;
}

/**
 * Stores the text and the pace, and adds people, in one transaction. Returns who waits, and until when.
 * @throws OperatorError if fewer people can get it, nobody waits, or another mailing is under way: then nothing changes.
 */
export async function sendMailing(client: pg.Client, { name, text, perHour, people, audience }: Order) {
  await begin(client);
  const lost = await markLost(client, name);
  const other = (await listMailings(client)).find((mailing) => mailing.name !== name && isUnderWay(mailing));
  if (other) {
    const hint = `waitlist mail stop ${other.name} ends it`;
    throw new OperatorError(`${other.name} is under way until ${other.until} or later; ${hint}. Nothing was added.`);
  }
  const { chosen } = await findCandidates(client, name, audience);
  if (people > chosen.length) {
    throw new OperatorError(`Only ${describePeople(chosen.length)} can get it. Nothing was added.`);
  }
  // After a failure, the mailing goes on at once. Otherwise it keeps its pace, or a faster one.
  await client.query(
    `INSERT INTO earlyaccess_kept.mailings AS mailing (name, text, per_hour, active_at, home)
     VALUES ($1, $2, coalesce($3, ${defaultPerHour}), CURRENT_TIMESTAMP, ${homeSql})
     ON CONFLICT ON CONSTRAINT mailings_pkey DO UPDATE
       SET text = $2, per_hour = coalesce($3, mailing.per_hour), active_at = CURRENT_TIMESTAMP, home = EXCLUDED.home,
         next_at = CASE WHEN mailing.failing_since IS NOT NULL THEN CURRENT_TIMESTAMP
           ELSE least(mailing.next_at, CURRENT_TIMESTAMP + interval '1 hour' / coalesce($3, mailing.per_hour)) END,
         failing_since = NULL, reason = NULL`,
    [name, text, perHour],
  );
  await addRecipients(client, name, chosen.slice(0, people));
  const { waiting = 0, until } = (await listMailings(client)).find((mailing) => mailing.name === name) ?? {};
  if (waiting === 0) throw new OperatorError(describeNobody(name, lost, chosen.length));
  await client.query("COMMIT");
  return { waiting, until, lost };
}

/** Adds people to the mailing, behind those who are on it. Whoever was skipped or given up waits again, as for the first try. */
async function addRecipients(client: pg.Client, name: string, people: Candidate[]): Promise<void> {
  await client.query(
    `INSERT INTO earlyaccess_kept.mailing_recipients AS recipient (name, entry_id, place)
     SELECT $1::text, id, number + (SELECT coalesce(max(place), 0) FROM earlyaccess_kept.mailing_recipients WHERE name = $1::text)
     FROM unnest($2::uuid[]) WITH ORDINALITY AS added (id, number)
     ON CONFLICT ON CONSTRAINT mailing_recipients_pkey DO UPDATE
       SET place = EXCLUDED.place, outcome = NULL, tries = 0, due_at = CURRENT_TIMESTAMP, tried_at = NULL, reply = NULL, token_hash = NULL
       WHERE recipient.outcome IN ('skipped', 'given up')`,
    [name, people.map(({ id }) => id)],
  );
}

/**
 * Stops a mailing and takes back what is not sent yet. Returns how many people can get it later, and how many may have had it from
 * another database. @throws OperatorError if there are none.
 */
export async function stopMailing(client: pg.Client, name: string): Promise<{ taken: number; lost: number }> {
  await begin(client);
  await requireMailing(client, name);
  const lost = await markLost(client, name);
  await client.query("UPDATE earlyaccess_kept.mailings SET active_at = NULL, reason = NULL WHERE name = $1", [name]);
  const { rowCount } = await client.query(
    "DELETE FROM earlyaccess_kept.mailing_recipients WHERE name = $1 AND outcome IS NULL",
    [name],
  );
  const taken = rowCount ?? 0;
  if (taken === 0 && lost === 0) throw new OperatorError(`Nobody waits for ${name}. Nothing was stopped.`);
  await client.query("COMMIT");
  return { taken, lost };
}

/** One command at a time. The worker waits for it. A connection that ends takes back what it did. */
async function begin(client: pg.Client): Promise<void> {
  await client.query("BEGIN; LOCK TABLE earlyaccess_kept.mailings IN SHARE ROW EXCLUSIVE MODE");
}

/** Sets those who wait to unknown if this database was made from a copy: what was sent since then is not known. Returns their number. */
async function markLost(client: pg.Client, name: string): Promise<number> {
  const { rowCount } = await client.query(
    `UPDATE earlyaccess_kept.mailing_recipients SET outcome = 'unknown', due_at = NULL
     WHERE outcome IS NULL AND name = (SELECT name FROM earlyaccess_kept.mailings WHERE name = $1 AND home <> ${homeSql})`,
    [name],
  );
  return rowCount ?? 0;
}

async function requireMailing(client: pg.Client, name: string): Promise<void> {
  const { rowCount } = await client.query("SELECT FROM earlyaccess_kept.mailings WHERE name = $1", [name]);
  if (!rowCount) throw new OperatorError(`There is no mailing ${name}. See: waitlist mail list`);
}

async function requireInvitation(client: pg.Client, invitation: string): Promise<void> {
  const { rowCount } = await client.query("SELECT FROM public.earlyaccess WHERE invitation = $1 LIMIT 1", [invitation]);
  if (rowCount) return;
  throw new OperatorError(`There is no invitation "${printable(invitation)}". See: waitlist invite --list`);
}

/** Returns how many mails an hour the mailing has, or a new one. */
export async function readPace(client: pg.Client, name: string): Promise<number> {
  const { rows } = await client.query<{ per_hour: number }>(
    "SELECT per_hour FROM earlyaccess_kept.mailings WHERE name = $1",
    [name],
  );
  return rows[0]?.per_hour ?? defaultPerHour;
}

export interface Mailing extends Record<
  "sent" | "gone" | "waiting" | "refused" | "givenUp" | "unknown" | "skipped",
  number
> {
  name: string;
  text: string;
  isStopped: boolean;
  isCopy: boolean;
  /** Somebody is due, and nothing was sent in the last hour. */
  isLate: boolean;
  /** When the last mail is sent, at the earliest. */
  until: string;
  /** Why it stopped, or which settings the worker lacks. */
  reason: string | null;
  /** The server's reply to the latest try, if it was no acceptance. */
  reply: string | null;
}

const isUnderWay = ({ isStopped, isCopy, waiting }: Mailing) => !isStopped && !isCopy && waiting > 0;

/** Lists the mailings, the newest first. `gone` are those who got it and are no longer on the list. */
export async function listMailings(client: pg.Client): Promise<Mailing[]> {
  const { rows } = await client.query<Mailing>(
    `SELECT mailing.name, mailing.text, reason, active_at IS NULL AS "isStopped", home <> ${homeSql} AS "isCopy",
       due > 0 AND (failing_since IS NOT NULL OR next_at <= CURRENT_TIMESTAMP)
         AND coalesce("sentAt" < CURRENT_TIMESTAMP - interval '1 hour', true) AS "isLate",
       to_char(greatest(CURRENT_TIMESTAMP + waiting * interval '1 hour' / per_hour, "lastDue"), 'YYYY-MM-DD HH24:MI TZ') AS until,
       (SELECT reply FROM earlyaccess_kept.mailing_recipients AS tried
        WHERE tried.name = mailing.name AND outcome IS DISTINCT FROM 'skipped' AND tried_at <= CURRENT_TIMESTAMP ORDER BY tried_at DESC LIMIT 1) AS reply, counted.*
     FROM earlyaccess_kept.mailings AS mailing
     CROSS JOIN LATERAL (
       SELECT ${countSql("sent", "outcome = 'sent'")}, ${countSql("gone", "outcome = 'sent' AND coalesce(status = 'left', true)")},
         ${countSql("waiting", "outcome IS NULL")}, ${countSql("due", "due_at <= CURRENT_TIMESTAMP")},
         ${countSql("refused", "outcome LIKE '5%'")}, ${countSql("givenUp", "outcome = 'given up'")},
         ${countSql("unknown", "outcome = 'unknown'")}, ${countSql("skipped", "outcome = 'skipped'")},
         max(due_at) AS "lastDue", max(tried_at) FILTER (WHERE outcome = 'sent' AND tried_at <= CURRENT_TIMESTAMP) AS "sentAt"
       FROM earlyaccess_kept.mailing_recipients AS recipient LEFT JOIN public.earlyaccess ON id = entry_id
       WHERE recipient.name = mailing.name) AS counted
     ORDER BY created_at DESC, mailing.name`,
  );
  return rows;
}

const countSql = (name: string, condition: string) => `(count(entry_id) FILTER (WHERE ${condition}))::int AS "${name}"`;

/** What --outcome of mail people selects. */
const outcomes = {
  unknown: "outcome = 'unknown'",
  refused: "outcome LIKE '5%'",
  "given-up": "outcome = 'given up'",
  waiting: "outcome IS NULL",
  sent: "outcome = 'sent'",
  skipped: "outcome = 'skipped'",
};
export type Outcome = keyof typeof outcomes;
export const outcomeNames = Object.keys(outcomes) as Outcome[];

/** Writes the people of the mailing who are on the list as CSV, in their order. */
export async function copyPeople(client: pg.Client, name: string, outcome: Outcome | undefined, output: Writable) {
  await requireMailing(client, name);
  const rows = client.query(
    copyTo(
      `COPY (SELECT ${guard("email")} AS email, coalesce(${guard("outcome")}, 'waiting') AS outcome,
         to_char(tried_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS tried_at, ${guard("reply")} AS reply
       FROM earlyaccess_kept.mailing_recipients AS recipient JOIN public.earlyaccess ON id = entry_id
       WHERE recipient.name = ${pg.escapeLiteral(name)} AND ${outcome ? outcomes[outcome] : "true"} ORDER BY place)
       TO STDOUT (FORMAT csv, HEADER)`,
    ),
  );
  await pipeline(rows, output, { end: output !== process.stdout });
  return rows.rowCount;
}

function describeNobody(name: string, lost: number, people: number): string {
  const reason = lost > 0 ? `: ${describePeople(lost)} may have had it before this database was made from a copy` : "";
  const hint = people > 0 ? ` To add the ${people} who can get it: waitlist mail send ${name} FILE ${people}` : "";
  return `Nobody waits for ${name}${reason}. Nothing was stored.${hint}`;
}

const describePeople = (number: number) => `${number.toLocaleString("en")} ${number === 1 ? "person" : "people"}`;

/** What an entry got, the oldest first. */
export async function findMailingsOf(client: pg.Client, entryId: string): Promise<NonNullable<Person["mailings"]>> {
  const { rows } = await client.query(
    `SELECT recipient.name, outcome, to_json(tried_at) AS tried_at, reply FROM earlyaccess_kept.mailing_recipients AS recipient
     JOIN earlyaccess_kept.mailings AS mailing USING (name) WHERE entry_id = $1 ORDER BY mailing.created_at, name`,
    [entryId],
  );
  return rows;
}
