// The mark of addresses whose mails came back: an operator sets it, and no mail goes to them.
import type pg from "pg";

/**
 * Sets or removes the mark of all addresses, or of none. An entry whose address the mail server named keeps its code.
 * @returns the addresses that are on the list, and whether each was changed.
 */
export async function setBounced(client: pg.Client, emails: string[], isBounced: boolean) {
  // The order of locks is that of sign-ups and imports, against deadlocks.
  const { rows } = await client.query<{ email: string; isChanged: boolean }>(
    `WITH due AS (
       SELECT id FROM public.earlyaccess WHERE email = ANY ($1)
         AND CASE WHEN $2 THEN coalesce(mail_refusal LIKE '% to RCPT TO', true) ELSE mail_refusal = 'bounced' END
       ORDER BY email COLLATE "C" FOR UPDATE
     ), changed AS (
       UPDATE public.earlyaccess SET mail_refusal = CASE WHEN $2 THEN 'bounced' END WHERE id IN (SELECT id FROM due) RETURNING id)
     SELECT email, id IN (SELECT id FROM changed) AS "isChanged" FROM public.earlyaccess WHERE email = ANY ($1)`,
    [emails, isBounced],
  );
  return new Map(rows.map(({ email, isChanged }) => [email, isChanged]));
}
