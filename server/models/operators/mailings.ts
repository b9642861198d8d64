// Mailings, as the command adds people to them, stops and lists them. What the worker asks and records: mailing-delivery.ts.
import type pg from "pg";
import { OperatorError } from "../../errors.ts";
import type { Person } from "./erasures.ts";
import { retryPause } from "./mailing-delivery.ts";
import { addRecipients, findCandidates, type Group } from "./mailing-recipients.ts";

/** The key of the one job of all mailings, also the name of its task and queue. */
export const mailingJob = "mailing";

const defaultPerHour = 200;

export interface Order {
  name: string;
  text: string;
  /** Undefined: as stored. */
  perHour: number | undefined;
  /** How many people to add, the oldest first. */
  people: number;
  group: Group;
}

/**
 * Stores the text and the pace, adds people, and queues the job, in one transaction. Returns who waits, and the pace.
 * @throws OperatorError if fewer people can get it, nobody waits, or another mailing is under way: then nothing changes.
 */
export async function sendMailing(client: pg.Client, { name, text, perHour, people, group }: Order) {
  await begin(client);
  const lost = await markLost(client);
  const other = (await listMailings(client)).find((mailing) => mailing.name !== name && isUnderWay(mailing));
  if (other) throw new OperatorError(describeUnderWay(other));
  const { chosen } = await findCandidates(client, name, group);
  if (people > chosen.length) {
    throw new OperatorError(`Only ${describePeople(chosen.length)} can get it. Nothing was added.`);
  }
  await client.query(
    `INSERT INTO earlyaccess_kept.mailings AS mailing (name, text, per_hour, active_at)
     VALUES ($1, $2, coalesce($3, ${defaultPerHour}), CURRENT_TIMESTAMP)
     ON CONFLICT ON CONSTRAINT mailings_pkey DO UPDATE
       SET text = $2, per_hour = coalesce($3, mailing.per_hour), active_at = CURRENT_TIMESTAMP, reply = NULL`,
    [name, text, perHour],
  );
  await addRecipients(client, name, chosen.slice(0, people));
  const { waiting = 0, until } = (await listMailings(client)).find((mailing) => mailing.name === name) ?? {};
  if (waiting === 0) {
    const reason = lost.get(name) ? `: ${describePeople(lost.get(name) ?? 0)} may have had it before a restore` : "";
    throw new OperatorError(`Nobody waits for ${name}${reason}. Nothing was stored.`);
  }
  // A job that was given up would keep its key.
  await client.query("SELECT graphile_worker.remove_job($1)", [mailingJob]);
  await client.query("SELECT graphile_worker.add_job($1, '{}', queue_name => $1, job_key => $1)", [mailingJob]);
  await client.query("COMMIT");
  return { waiting, until, lost: lost.get(name) ?? 0 };
}

/**
 * Stops a mailing and takes back what is not sent yet. Returns how many people can get it later, and how many may have had it before a
 * restore. @throws OperatorError if there are none.
 */
export async function stopMailing(client: pg.Client, name: string): Promise<{ taken: number; lost: number }> {
  await begin(client);
  const lost = (await markLost(client)).get(name) ?? 0;
  const { rowCount: found } = await client.query(
    "UPDATE earlyaccess_kept.mailings SET active_at = NULL WHERE name = $1",
    [name],
  );
  if (!found) throw new OperatorError(`There is no mailing ${name}. See: waitlist mail --list`);
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

/**
 * Sets those who wait to unknown if the queue has no job of the mailing, not even one that was given up: this database was made from
 * copies, and what was sent since then is not known. Returns their number by mailing.
 */
async function markLost(client: pg.Client): Promise<Map<string, number>> {
  const { rows } = await client.query<{ name: string; people: number }>(
    `WITH lost AS (
       UPDATE earlyaccess_kept.mailing_recipients AS recipient SET outcome = 'unknown'
       FROM earlyaccess_kept.mailings AS mailing
       WHERE mailing.name = recipient.name AND active_at IS NOT NULL AND outcome IS NULL
         AND NOT EXISTS (SELECT FROM graphile_worker.jobs WHERE key = $1)
       RETURNING mailing.name)
     SELECT name, count(*)::int AS people FROM lost GROUP BY name`,
    [mailingJob],
  );
  return new Map(rows.map(({ name, people }) => [name, people]));
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
  "sent" | "gone" | "waiting" | "putOff" | "refused" | "unknown" | "skipped",
  number
> {
  name: string;
  text: string;
  isStopped: boolean;
  /** When the last mail is sent, at the earliest. */
  until: string;
  /** The server's latest refusal, or why the mailing stopped. */
  reply: string | null;
  /** Of the job of all mailings. */
  job: "missing" | "given up" | "queued";
  error: string | null;
}

const isUnderWay = ({ isStopped, waiting }: Mailing) => !isStopped && waiting > 0;

/** Lists the mailings, the newest first. `gone` are those who got it and are no longer on the list. */
export async function listMailings(client: pg.Client): Promise<Mailing[]> {
  const { rows } = await client.query<Mailing>(
    `SELECT mailing.name, mailing.text, reply, active_at IS NULL AS "isStopped", job.error,
       CASE WHEN job.attempts IS NULL THEN 'missing' WHEN job.attempts >= job.max_attempts THEN 'given up' ELSE 'queued' END AS job,
       to_char(greatest(CURRENT_TIMESTAMP + waiting * interval '1 hour' / per_hour, "triedAt" + interval '${retryPause}'),
         'YYYY-MM-DD HH24:MI TZ') AS until, counted.*
     FROM earlyaccess_kept.mailings AS mailing
     LEFT JOIN (SELECT attempts, max_attempts, last_error AS error FROM graphile_worker.jobs WHERE key = $1) AS job ON true
     CROSS JOIN LATERAL (
       SELECT ${countSql("sent", "outcome = 'sent'")}, ${countSql("gone", "outcome = 'sent' AND coalesce(status = 'left', true)")},
         ${countSql("waiting", "outcome IS NULL")}, ${countSql("putOff", "outcome IS NULL AND tried_at IS NOT NULL")},
         max(tried_at) FILTER (WHERE outcome IS NULL) AS "triedAt",
         ${countSql("refused", "outcome ~ '^5'")}, ${countSql("unknown", "outcome = 'unknown'")}, ${countSql("skipped", "outcome = 'skipped'")}
       FROM earlyaccess_kept.mailing_recipients AS recipient LEFT JOIN public.earlyaccess ON id = entry_id
       WHERE recipient.name = mailing.name) AS counted
     ORDER BY created_at DESC, mailing.name`,
    [mailingJob],
  );
  return rows;
}

const countSql = (name: string, condition: string) => `(count(entry_id) FILTER (WHERE ${condition}))::int AS "${name}"`;

function describeUnderWay({ name, waiting, putOff, until }: Mailing): string {
  if (putOff < waiting) return `${name} is under way until ${until} or later. Nothing was added.`;
  const servers = `${describePeople(waiting)} whose servers put it off`;
  return `${name} waits for ${servers}. waitlist mail --stop ${name} ends it. Nothing was added.`;
}

const describePeople = (number: number) => `${number.toLocaleString("en")} ${number === 1 ? "person" : "people"}`;

/** What an entry got, the oldest first. */
export async function findMailingsOf(client: pg.Client, entryId: string): Promise<NonNullable<Person["mailings"]>> {
  const { rows } = await client.query(
    `SELECT recipient.name, outcome, to_json(tried_at) AS tried_at FROM earlyaccess_kept.mailing_recipients AS recipient
     JOIN earlyaccess_kept.mailings AS mailing USING (name) WHERE entry_id = $1 ORDER BY mailing.created_at, name`,
    [entryId],
  );
  return rows;
}
