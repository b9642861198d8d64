-- psql "$DATABASE_OWNER_URL" -1 -v ON_ERROR_STOP=1 -v worker=perennial_worker -f prisma/roles/worker-purge.sql
-- The task purge: deletes old entries.

GRANT SELECT (id, email, created_at), DELETE ON public.earlyaccess TO :"worker";
