-- The roles of the site and their rights on its own objects. The owner of the tables runs this file with each migration, and may run
-- it any number of times. It changes no object of another application.
--
-- A section runs if the settings need every word of its heading: "worker mail erasures" needs a worker, its task mail, and ERASURE_KEY.
-- studio needs DATABASE_ADMIN_URL. A section that is not needed does not run, so a role that is no longer configured keeps its rights:
-- drop it. The site replaces :"name" and :'name' as psql does.
-- A paragraph is one step. With "unless", the whole step runs before the migrations, and only if the condition is false: a role that
-- existed before gets no timeout. If the owner may not run it, the site prints it for an administrator, and stops. All other steps run
-- after the migrations, in one transaction.

-- ==== owner: may share the table of migrations with another application that uses Prisma. ====

-- unless coalesce(has_table_privilege(to_regclass('public._prisma_migrations'), 'INSERT'), true)
GRANT SELECT, INSERT, UPDATE ON public._prisma_migrations TO :"owner";

-- ==== web: stores sign-ups, notices and page views, and follows links. No SELECT: it cannot read the list. ====

-- unless to_regrole(quote_ident(:'web')) IS NOT NULL
CREATE ROLE :"web" LOGIN PASSWORD :'web_password';
-- A forgotten transaction holds the entries that it changed, and sign-ups of their addresses get 503.
ALTER ROLE :"web" SET idle_in_transaction_session_timeout = '30s';

-- unless has_database_privilege(to_regrole(quote_ident(:'web')), current_database(), 'CONNECT')
GRANT CONNECT ON DATABASE :"database" TO :"web";

-- unless has_schema_privilege(to_regrole(quote_ident(:'web')), 'public', 'USAGE')
GRANT USAGE ON SCHEMA public TO :"web";

REVOKE ALL ON public.earlyaccess, public.earlyaccess_status_changes, public.earlyaccess_notices,
  public.earlyaccess_views, public.earlyaccess_backups FROM :"web" CASCADE;
-- The fields of the form, flags, source, notice and the token of the undo button: server/database/columns.ts.
GRANT INSERT (:sign_up_columns) ON public.earlyaccess TO :"web";
GRANT INSERT (id, text) ON public.earlyaccess_notices TO :"web";
GRANT EXECUTE ON FUNCTION public.earlyaccess_confirm(bytea), public.earlyaccess_leave(bytea),
  public.earlyaccess_count_views(date, text, int) TO :"web";

-- ==== public: every role of this Postgres, which gets nothing, also after a restore without privileges. ====

REVOKE ALL ON public.earlyaccess, public.earlyaccess_status_changes, public.earlyaccess_notices,
  public.earlyaccess_views, public.earlyaccess_backups FROM PUBLIC CASCADE;
REVOKE ALL ON FUNCTION public.earlyaccess_append_only(), public.earlyaccess_log_status(), public.earlyaccess_enqueue(),
  public.earlyaccess_replace_suspected_spam(),
  public.earlyaccess_confirm(bytea), public.earlyaccess_leave(bytea), public.earlyaccess_count_views(date, text, int) FROM PUBLIC CASCADE;

-- ==== studio: the admins, a group that cannot log in. Studio's login and personal logins are its members: see docs/admins.md. ====

-- unless to_regrole(quote_ident(:'admins')) IS NOT NULL
CREATE ROLE :"admins" NOLOGIN;

-- unless to_regrole(quote_ident(:'studio')) IS NOT NULL
CREATE ROLE :"studio" LOGIN PASSWORD :'studio_password';
ALTER ROLE :"studio" SET idle_in_transaction_session_timeout = '30s';

-- unless pg_has_role(to_regrole(quote_ident(:'studio')), to_regrole(quote_ident(:'admins')), 'MEMBER')
GRANT :"admins" TO :"studio";

-- unless has_database_privilege(to_regrole(quote_ident(:'admins')), current_database(), 'CONNECT')
GRANT CONNECT ON DATABASE :"database" TO :"admins";

-- unless has_schema_privilege(to_regrole(quote_ident(:'admins')), 'public', 'USAGE')
GRANT USAGE ON SCHEMA public TO :"admins";

REVOKE ALL ON public.earlyaccess, public.earlyaccess_status_changes, public.earlyaccess_notices,
  public.earlyaccess_views, public.earlyaccess_backups FROM :"studio", :"admins" CASCADE;
GRANT SELECT, DELETE, UPDATE (status, invitation) ON public.earlyaccess TO :"admins";
GRANT SELECT ON public.earlyaccess_status_changes, public.earlyaccess_notices TO :"admins";

-- ==== erasures: the addresses of erased entries, as keyed hashes, in a schema that backups exclude. ====

-- unless to_regnamespace('earlyaccess_erasures') IS NOT NULL
CREATE SCHEMA earlyaccess_erasures AUTHORIZATION :"owner";

CREATE TABLE IF NOT EXISTS earlyaccess_erasures.addresses (
  -- Of the address, 32 bytes; or the id of an entry that never had a mail, 16 bytes.
  hash bytea CONSTRAINT addresses_pkey PRIMARY KEY,
  erased_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
-- When the person left by the link of a mail.
ALTER TABLE earlyaccess_erasures.addresses ADD COLUMN IF NOT EXISTS left_at timestamptz(3);

-- ==== queue: graphile-worker's schema. The site creates it between the migrations and the rights. ====

-- unless has_database_privilege(current_database(), 'CREATE') OR to_regnamespace('graphile_worker') IS NOT NULL
GRANT CREATE ON DATABASE :"database" TO :"owner";

-- ==== worker: empties the queue. Its other rights depend on its tasks. ====

-- unless to_regrole(quote_ident(:'worker')) IS NOT NULL
CREATE ROLE :"worker" LOGIN PASSWORD :'worker_password';
ALTER ROLE :"worker" SET idle_in_transaction_session_timeout = '30s';

-- unless has_database_privilege(to_regrole(quote_ident(:'worker')), current_database(), 'CONNECT')
GRANT CONNECT ON DATABASE :"database" TO :"worker";

-- unless has_schema_privilege(to_regrole(quote_ident(:'worker')), 'public', 'USAGE')
GRANT USAGE ON SCHEMA public TO :"worker";

REVOKE ALL ON public.earlyaccess, public.earlyaccess_status_changes, public.earlyaccess_notices,
  public.earlyaccess_views, public.earlyaccess_backups FROM :"worker" CASCADE;
GRANT USAGE ON SCHEMA graphile_worker TO :"worker";
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA graphile_worker TO :"worker";
-- For the metric of the last backup.
GRANT SELECT (finished_at) ON public.earlyaccess_backups TO :"worker";

-- ==== worker webhook: what a webhook contains. Neither name nor address. ====

GRANT SELECT (id, company, created_at, utm_source, utm_medium, utm_campaign, utm_term, utm_content, referrer_host)
  ON public.earlyaccess TO :"worker";

-- ==== worker mail: the address, and the state of the mail. ====

GRANT SELECT (id, email, mail_tokens, mailed_at, mail_refusal, confirmed_at, suspected_spam, disposable_email, unusual_volume),
  UPDATE (mail_tokens, erasure_hash, mailed_at, mail_refusal) ON public.earlyaccess TO :"worker";

-- ==== worker purge: deletes old entries. ====

GRANT SELECT (id, email, created_at), DELETE ON public.earlyaccess TO :"worker";

-- ==== worker erasures: what the tasks mail and purge know of erased addresses. ====

GRANT USAGE ON SCHEMA earlyaccess_erasures TO :"worker";
REVOKE ALL ON earlyaccess_erasures.addresses FROM :"worker" CASCADE;

-- ==== worker mail erasures ====

GRANT SELECT ON earlyaccess_erasures.addresses TO :"worker";

-- ==== worker purge erasures ====

GRANT SELECT, INSERT, UPDATE ON earlyaccess_erasures.addresses TO :"worker";
