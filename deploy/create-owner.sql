-- Creates the owner of the database, who is not a superuser. The database container runs this file once, when its volume is empty.
\getenv password POSTGRES_PASSWORD
CREATE ROLE perennial_owner LOGIN CREATEROLE PASSWORD :'password';
ALTER DATABASE perennial OWNER TO perennial_owner;
-- No other application uses this Postgres: no role needs temporary tables or another database.
REVOKE TEMPORARY ON DATABASE perennial FROM PUBLIC;
REVOKE CONNECT ON DATABASE postgres, template1 FROM PUBLIC;
-- Without a password, the superuser can log in only inside the container: docker compose exec database psql -U postgres perennial
ALTER ROLE postgres PASSWORD NULL;
