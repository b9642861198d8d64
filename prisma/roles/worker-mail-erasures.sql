-- psql "$DATABASE_OWNER_URL" -1 -v ON_ERROR_STOP=1 -v worker=perennial_worker -f prisma/roles/worker-mail-erasures.sql
-- The task mail, with ERASURE_KEY: an address waits 30 days after it left, and a day after an erasure.

GRANT SELECT ON earlyaccess_erasures.addresses TO :"worker";
