-- psql "$DATABASE_OWNER_URL" -1 -v ON_ERROR_STOP=1 -v admins=perennial_admins -v studio=perennial_admin -f prisma/roles/admins.sql
-- The admins, a group that cannot log in: read and delete entries, and change their status or invitation. Studio's login and
-- personal logins (docs/admins.md) are its members, and have no rights of their own.

REVOKE ALL ON public.earlyaccess, public.earlyaccess_status_changes, public.earlyaccess_notices,
  public.earlyaccess_views, public.earlyaccess_backups, public.earlyaccess_mail_passes FROM :"studio", :"admins" CASCADE;
GRANT SELECT, DELETE, UPDATE (status, invitation) ON public.earlyaccess TO :"admins";
GRANT SELECT ON public.earlyaccess_status_changes, public.earlyaccess_notices TO :"admins";
