-- psql "$DATABASE_OWNER_URL" -1 -v ON_ERROR_STOP=1 -v worker=perennial_worker -f prisma/roles/worker-mail-erasures.sql
-- The task mail, with ERASURE_KEY: whoever left waits a day for the next mail.

GRANT SELECT ON earlyaccess_erasures.addresses TO :"worker";
