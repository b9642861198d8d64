-- psql "$DATABASE_OWNER_URL" -1 -v ON_ERROR_STOP=1 -v worker=perennial_worker -f prisma/roles/worker-mail.sql
-- The task mail, after worker-erasures.sql: the address, the state of the mail, and the pace of mails.

GRANT SELECT (id, email, status, mail_tokens, mailed_at, mail_refusal, confirmed_at, suspected_spam, disposable_email, unusual_volume),
  UPDATE (mail_tokens, erasure_hash, mailed_at, mail_refusal) ON public.earlyaccess TO :"worker";
GRANT SELECT, INSERT, UPDATE, DELETE ON public.earlyaccess_mail_passes TO :"worker";
-- An address waits 30 days after it left, and a day after an erasure.
GRANT SELECT ON earlyaccess_erasures.addresses TO :"worker";
