// The pace of confirmation mails: if nearly nobody confirms the latest ones, only few are sent.

/** A connection, or the helpers of a job. */
interface Queryable {
  query(sql: string, values: unknown[]): Promise<{ rows: MailPace[] }>;
}

/** The latest mails, at most 100, that are older than two hours. */
interface MailPace {
  mails: number;
  confirmed: number;
  /** Mails that 24 hours allow, and mails of the past 24 hours. Null if all are sent. */
  allowed: number | null;
  sent: number | null;
}

/** Fewer mails, of a list that just opened, tell nothing. */
const enoughMails = 40;

/** Mails in 24 hours for each confirmed address of seven days. With one, a site that bots use would send fewer each day. */
const mailsForConfirmed = 2;

/** An SQL query for the counts of MailPace, which reads 100 rows of an index. */
const latestMails = `SELECT count(*)::int AS mails, count(confirmed_at)::int AS confirmed FROM (
  SELECT confirmed_at FROM public.earlyaccess WHERE mailed_at < CURRENT_TIMESTAMP - interval '2 hours'
  ORDER BY mailed_at DESC LIMIT 100) AS latest`;

/** An SQL query. Each job runs it, so it reads few rows, also after a day with a million mails. */
const mailsSince = (age: string, most: number) => `SELECT confirmed_at FROM public.earlyaccess
  WHERE mailed_at > CURRENT_TIMESTAMP - interval '${age}' ORDER BY mailed_at DESC LIMIT ${most}`;

/** An SQL query for the confirmed share of the latest mails; NaN if there are too few. */
export const confirmedShare = `SELECT CASE WHEN mails < ${enoughMails} THEN 'NaN' ELSE confirmed / mails::float END
  FROM (${latestMails}) AS latest`;

/** @param minimum in per cent; 0 sends all mails. */
export async function readMailPace(client: Queryable, minimum: number): Promise<MailPace> {
  const { rows } = await client.query(
    `SELECT mails, confirmed,
       CASE WHEN is_slow THEN (SELECT greatest(5, ${mailsForConfirmed} * count(confirmed_at))::int
                               FROM (${mailsSince("7 days", 10_000)}) AS mailed) END AS allowed,
       CASE WHEN is_slow THEN (SELECT count(*)::int
                               FROM (${mailsSince("24 hours", mailsForConfirmed * 10_000)}) AS mailed) END AS sent
     FROM (SELECT *, mails >= ${enoughMails} AND confirmed * 100 < mails * $1::int AS is_slow FROM (${latestMails}) AS latest) AS pace`,
    [minimum],
  );
  return rows[0] as MailPace;
}

/** The error of a job that waits for a confirmation begins with this. */
export const waitsForConfirmations = "The mail waits for confirmations of earlier ones";

/** @throws an error, so that the queue retries the job, if the pace allows no mail now. */
export async function requireConfirmations(client: Queryable, minimum: number): Promise<void> {
  const { mails, confirmed, allowed, sent } = await readMailPace(client, minimum);
  if (allowed !== null && Number(sent) >= allowed) {
    throw new Error(`${waitsForConfirmations}: ${confirmed} of the latest ${mails} were confirmed`);
  }
}
