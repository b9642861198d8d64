// The rights of each role, as SQL. No role but the owner has another one on what is the site's.
import { signUpColumns } from "./columns.ts";

const tables = `public.earlyaccess, public.earlyaccess_status_changes, public.earlyaccess_notices, public.earlyaccess_views,
  public.earlyaccess_backups, public.earlyaccess_mail_passes`;
const functions = `public.earlyaccess_append_only(), public.earlyaccess_log_status(), public.earlyaccess_enqueue(),
  public.earlyaccess_queue_mail(uuid), public.earlyaccess_replace_suspected_spam(), public.earlyaccess_confirm(bytea),
  public.earlyaccess_leave(bytea), public.earlyaccess_count_views(date, text, int)`;

/** With ERASURE_KEY: the addresses of erased entries, as keyed hashes, in a schema that backups exclude. */
export const erasuresSql = `
CREATE TABLE IF NOT EXISTS earlyaccess_erasures.addresses (
  -- The hash of the address, 32 bytes; or the id of an entry that never had a mail, 16 bytes.
  hash bytea CONSTRAINT addresses_pkey PRIMARY KEY CHECK (octet_length(hash) IN (16, 32)),
  erased_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  left_at timestamptz(3) -- When the person left by the link of a mail.
);`;

/** SQL identifiers. */
type Names = Record<"web" | "studio" | "worker", string | undefined> & { admins: string };

/** Revokes every right of the roles and of PUBLIC, and grants those that are needed. */
export function rightsSql({ web, studio, admins, worker }: Names, tasks: string[], keepsErasures: boolean): string {
  const everybody = ["PUBLIC", web, studio, studio && admins, worker].filter(Boolean).join(", ");
  const does = (task: string) => worker && tasks.includes(task);
  const parts = [
    `REVOKE ALL ON ${tables} FROM ${everybody} CASCADE;
     REVOKE ALL ON FUNCTION ${functions} FROM ${everybody} CASCADE;`,
    keepsErasures && `REVOKE ALL ON earlyaccess_erasures.addresses FROM ${everybody} CASCADE;`,

    // The site stores sign-ups, notices and page views, and follows links. Without SELECT, it cannot read the list.
    web &&
      `GRANT INSERT (${signUpColumns}) ON public.earlyaccess TO ${web};
       GRANT INSERT (id, text) ON public.earlyaccess_notices TO ${web};
       GRANT EXECUTE ON FUNCTION public.earlyaccess_confirm(bytea), public.earlyaccess_leave(bytea),
         public.earlyaccess_count_views(date, text, int) TO ${web};`,

    // A group that cannot log in. Studio's login and personal logins (docs/admins.md) are its members, and have no rights of their own.
    studio &&
      `GRANT SELECT, DELETE, UPDATE (status, invitation) ON public.earlyaccess TO ${admins};
       GRANT SELECT ON public.earlyaccess_status_changes, public.earlyaccess_notices TO ${admins};`,

    // The worker empties the queue, and has a metric of the last backup.
    worker &&
      `GRANT USAGE ON SCHEMA graphile_worker TO ${worker};
       GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA graphile_worker TO ${worker};
       GRANT SELECT (finished_at) ON public.earlyaccess_backups TO ${worker};`,
    worker && keepsErasures && `GRANT USAGE ON SCHEMA earlyaccess_erasures TO ${worker};`,
    // The columns that a webhook contains, without name and address.
    does("webhook") &&
      `GRANT SELECT (id, company, created_at, utm_source, utm_medium, utm_campaign, utm_term, utm_content, referrer_host)
         ON public.earlyaccess TO ${worker};`,
    // The address, the state of the mail, the pace of mails, and who left or was erased. The settings require ERASURE_KEY for mails.
    does("mail") &&
      keepsErasures &&
      `GRANT SELECT (id, email, status, mail_tokens, mailed_at, mail_refusal, confirmed_at, suspected_spam, disposable_email,
         unusual_volume), UPDATE (mail_tokens, erasure_hash, mailed_at, mail_refusal) ON public.earlyaccess TO ${worker};
       GRANT SELECT, INSERT, UPDATE, DELETE ON public.earlyaccess_mail_passes TO ${worker};
       GRANT SELECT ON earlyaccess_erasures.addresses TO ${worker};`,
    // Purged entries stay erased.
    does("purge") && `GRANT SELECT (id, email, created_at), DELETE ON public.earlyaccess TO ${worker};`,
    does("purge") && keepsErasures && `GRANT SELECT, INSERT, UPDATE ON earlyaccess_erasures.addresses TO ${worker};`,
  ];
  return parts.filter(Boolean).join("\n");
}
