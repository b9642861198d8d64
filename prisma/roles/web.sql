-- psql "$DATABASE_OWNER_URL" -1 -v ON_ERROR_STOP=1 -v web=perennial_web -v sign_up_columns="id, name, email, company, job_title, suspected_spam, disposable_email, unusual_volume, utm_source, utm_medium, utm_campaign, utm_term, utm_content, referrer_host, notice_id, token_hash" -f prisma/roles/web.sql
-- The site's role: stores sign-ups, notices and page views, and follows links. No SELECT: it cannot read the list.

REVOKE ALL ON public.earlyaccess, public.earlyaccess_status_changes, public.earlyaccess_notices,
  public.earlyaccess_views, public.earlyaccess_backups, public.earlyaccess_mail_passes FROM :"web" CASCADE;
-- The fields of the form, flags, source, notice and the token of the undo button: server/database/columns.ts.
GRANT INSERT (:sign_up_columns) ON public.earlyaccess TO :"web";
GRANT INSERT (id, text) ON public.earlyaccess_notices TO :"web";
GRANT EXECUTE ON FUNCTION public.earlyaccess_confirm(bytea), public.earlyaccess_leave(bytea),
  public.earlyaccess_count_views(date, text, int) TO :"web";
