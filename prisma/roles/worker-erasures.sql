-- psql "$DATABASE_OWNER_URL" -1 -v ON_ERROR_STOP=1 -v worker=perennial_worker -f prisma/roles/worker-erasures.sql
-- The worker, with ERASURE_KEY. worker-mail.sql and worker-purge-erasures.sql grant its tasks their rights on erased addresses.

GRANT USAGE ON SCHEMA earlyaccess_erasures TO :"worker";
REVOKE ALL ON earlyaccess_erasures.addresses FROM :"worker" CASCADE;
