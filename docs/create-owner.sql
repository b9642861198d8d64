-- The database container runs this once, when its volume is empty: creates the owner of the database, which is no superuser.
\getenv password POSTGRES_PASSWORD
CREATE ROLE perennial_owner LOGIN CREATEROLE PASSWORD :'password';
ALTER DATABASE perennial OWNER TO perennial_owner;
-- No other application uses this Postgres, so no role needs temporary tables or another database.
REVOKE TEMPORARY ON DATABASE perennial FROM PUBLIC;
REVOKE CONNECT ON DATABASE postgres, template1 FROM PUBLIC;
-- Without a password the superuser logs in inside the container only: docker compose exec database psql -U postgres perennial
ALTER ROLE postgres PASSWORD NULL;
