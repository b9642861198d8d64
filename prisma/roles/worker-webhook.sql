-- psql "$DATABASE_OWNER_URL" -1 -v ON_ERROR_STOP=1 -v worker=perennial_worker -f prisma/roles/worker-webhook.sql
-- The task webhook: the columns that a webhook contains, without name and address.

GRANT SELECT (id, company, created_at, utm_source, utm_medium, utm_campaign, utm_term, utm_content, referrer_host)
  ON public.earlyaccess TO :"worker";
