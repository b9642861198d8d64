-- psql "$DATABASE_OWNER_URL" -1 -v ON_ERROR_STOP=1 -v worker=perennial_worker -f prisma/roles/worker-purge-erasures.sql
-- The task purge, with ERASURE_KEY: the addresses of purged entries stay erased.

GRANT SELECT, INSERT, UPDATE ON earlyaccess_erasures.addresses TO :"worker";
