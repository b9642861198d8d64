// Who can get a mailing: people on the list who confirmed their address, and others by an option, each once.
import type pg from "pg";
import { normaliseEmail } from "../sign-up-rules.ts";
import { codesOfAddress } from "./mails.ts";

export interface Group {
  unconfirmed?: boolean | undefined;
  imported?: boolean | undefined;
  invitation?: string | undefined;
}

/** An SQL condition on an entry: it may get a mailing. The worker asks again before each mail. */
export const mayGetMailingSql = `status IN ('waiting', 'invited') AND NOT suspected_spam
  AND coalesce(mail_refusal !~ '${codesOfAddress}|^bounced$', true)`;

interface Candidate {
  id: string;
  email: string;
  kind: "confirmed" | "unconfirmed" | "imported";
}

export interface Candidates {
  /** The oldest first. */
  chosen: Candidate[];
  /** Numbers of people whom an option would add. */
  leftOut: { unconfirmed: number; imported: number };
}

/** Finds those who can get the mailing and have not had it. Whoever was skipped can. */
export async function findCandidates(client: pg.Client, name: string, group: Group): Promise<Candidates> {
  const { rows } = await client.query<Candidate>(
    `SELECT id, email, CASE WHEN confirmed_at IS NOT NULL THEN 'confirmed' WHEN imported THEN 'imported' ELSE 'unconfirmed' END AS kind
     FROM public.earlyaccess AS entry
     WHERE ${mayGetMailingSql} AND ($3::text IS NULL OR invitation = $3)
       AND NOT EXISTS (SELECT FROM earlyaccess_kept.mailing_recipients AS recipient WHERE entry_id = entry.id
         AND (recipient.name = $1 AND outcome IS DISTINCT FROM 'skipped' OR outcome ~ $2))
     ORDER BY created_at, id`,
    [name, codesOfAddress, group.invitation],
  );
  // The list, edited by hand, may have an address in two spellings.
  const candidates = rows.filter(({ email }) => normaliseEmail(email) === email);
  const chosen = candidates.filter(({ kind }) => kind === "confirmed" || group[kind]);
  const count = (kind: Candidate["kind"]) => candidates.filter((candidate) => candidate.kind === kind).length;
  return {
    chosen,
    leftOut: {
      unconfirmed: group.unconfirmed ? 0 : count("unconfirmed"),
      imported: group.imported ? 0 : count("imported"),
    },
  };
}

/** Adds people to the mailing, behind those who are on it. Whoever was skipped waits again. */
export async function addRecipients(client: pg.Client, name: string, people: Candidate[]): Promise<void> {
  await client.query(
    `INSERT INTO earlyaccess_kept.mailing_recipients AS recipient (name, entry_id, place)
     SELECT $1::text, id, number + (SELECT coalesce(max(place), 0) FROM earlyaccess_kept.mailing_recipients WHERE name = $1::text)
     FROM unnest($2::uuid[]) WITH ORDINALITY AS added (id, number)
     ON CONFLICT ON CONSTRAINT mailing_recipients_pkey DO UPDATE
       SET place = EXCLUDED.place, outcome = NULL, tried_at = NULL, token_hash = NULL WHERE recipient.outcome = 'skipped'`,
    [name, people.map(({ id }) => id)],
  );
}
