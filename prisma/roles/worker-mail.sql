-- psql "$DATABASE_OWNER_URL" -1 -v ON_ERROR_STOP=1 -v worker=perennial_worker -f prisma/roles/worker-mail.sql
-- The task mail: the address, and the state of the mail.

GRANT SELECT (id, email, mail_tokens, mailed_at, mail_refusal, confirmed_at, suspected_spam, disposable_email, unusual_volume),
  UPDATE (mail_tokens, erasure_hash, mailed_at, mail_refusal) ON public.earlyaccess TO :"worker";
