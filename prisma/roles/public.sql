-- psql "$DATABASE_OWNER_URL" -1 -v ON_ERROR_STOP=1 -f prisma/roles/public.sql
-- PUBLIC, every role of this Postgres, has no right, also after a restore without privileges.

REVOKE ALL ON public.earlyaccess, public.earlyaccess_status_changes, public.earlyaccess_notices,
  public.earlyaccess_views, public.earlyaccess_backups, public.earlyaccess_mail_passes FROM PUBLIC CASCADE;
REVOKE ALL ON FUNCTION public.earlyaccess_append_only(), public.earlyaccess_log_status(), public.earlyaccess_enqueue(),
  public.earlyaccess_queue_mail(uuid), public.earlyaccess_replace_suspected_spam(),
  public.earlyaccess_confirm(bytea), public.earlyaccess_leave(bytea), public.earlyaccess_count_views(date, text, int) FROM PUBLIC CASCADE;
