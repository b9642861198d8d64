#!/bin/sh
# Backups of the Compose profile "backup": one a day, tested by a restore; 7 daily, 4 weekly and 12 monthly ones stay.
#
#   backup.sh          backs up whenever the newest backup is a day old, forever
#   backup.sh once     backs up now
#   backup.sh rotate   only deletes expired backups, also those that hold more than twice the list's entries
#
# libpq's variables (PGHOST, PGUSER, PGPASSWORD, PGDATABASE) name the database.
set -u
umask 077
export LC_ALL=C.UTF-8 TZ=UTC
folder=${BACKUP_FOLDER:-/var/lib/postgresql/backups}
export work="$folder/.work"

log() {
  echo "$(date +%Y-%m-%dT%H:%M:%SZ) $*"
}

query() {
  psql --no-psqlrc --quiet --tuples-only --no-align --no-password --set=ON_ERROR_STOP=1 "$@"
}

# Backups may share a disk with Postgres, which stops if the disk is full. The dump and the scratch database each take at most as much as the database.
has_room() {
  size=$(query --command="SELECT pg_database_size(current_database()) / 1024") || { log "The database cannot be reached: see the line above."; return 1; }
  free=$(df -Pk "$folder" | awk 'NR == 2 { print $4 }')
  needed=$((2 * size + 200000))
  [ "$free" -gt "$needed" ] || { log "The disk is too full: a backup needs $needed KB, and $free KB are free."; return 1; }
}

# Dumps the schema public, and prints the number of entries in the snapshot of the dump. A dump of the whole database fails at a large
# object that the role may not read, and every login may create one.
dump() {
  query <<'SQL'
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SELECT pg_export_snapshot() AS snapshot, count(*) AS entries FROM public.earlyaccess \gset
\setenv SNAPSHOT :snapshot
\! pg_dump --no-password --format=custom --snapshot="$SNAPSHOT" --schema=public --file="$work/dump" || rm -f "$work/dump"
\echo :entries
SQL
}

# Restores the dump as docs/backup.md does, and prints the number of entries. The scratch database is on a Postgres of its own that listens
# on a socket in $work only: this needs no right on the real server, and no other container can reach it. The role that restores is no
# superuser: functions in the dump must not run programs.
restore() (
  export PGHOST="$work" PGPORT=5432 PGDATABASE=scratch
  initdb --pgdata="$work/server" --username=superuser --auth=trust --encoding=UTF8 --no-sync >"$work/log" || exit
  options="-c listen_addresses= -c unix_socket_directories='$work' -c fsync=off"
  # No WAL for the restored rows, which would double the room on the disk.
  options="$options -c wal_level=minimal -c max_wal_senders=0"
  # No parallel index builds: they may need more shared memory than a container has.
  options="$options -c max_parallel_maintenance_workers=0"
  if ! pg_ctl --pgdata="$work/server" --log="$work/log" --wait --options="$options" start >/dev/null 9>&-; then
    cat "$work/log" >&2
    exit 1
  fi
  createuser --username=superuser "$PGUSER" && createdb --username=superuser --owner="$PGUSER" scratch || exit
  if pg_restore --dbname=scratch --schema=public --no-privileges --clean --if-exists --single-transaction "$work/dump" 2>"$work/errors"; then
    query --command="SELECT count(*) FROM public.earlyaccess"
  else
    # The end of an error message and its context lines may hold an address.
    sed -n -e 's/: "[^"]*"$//' -e '/^pg_restore: /p' "$work/errors" >&2
  fi
  pg_ctl --pgdata="$work/server" --mode=immediate stop >/dev/null
)

back_up() {
  clean && mkdir "$work" && has_room || return
  entries=$(dump)
  [ -n "$entries" ] && [ -f "$work/dump" ] || { log "The dump failed."; return 1; }
  restored=$(restore)
  [ "$restored" = "$entries" ] || { log "The dump is not usable: ${restored:-none} of its $entries entries could be restored."; return 1; }
  name=perennial-$(date +%Y-%m-%dT%H%M%SZ)-$entries.dump
  mv "$work/dump" "$folder/$name" && sync "$folder" || return
  log "Wrote $name, tested by a restore. Entries: $entries."
  query --command="INSERT INTO public.earlyaccess_backups (entries) VALUES ($entries)" || log "doctor cannot report this backup."
  rotate "$entries"
}

# Keeps the newest backup of each of the last 7 days, 4 weeks and 12 months that have one, and all of the last two days: the newest may
# be of a damaged list. It counts backups, so that a wrong clock cannot delete all. With the list's number of entries, it also keeps
# those that hold more than twice as many, because the list may have been lost.
rotate() {
  for file in "$folder"/perennial-????-??-??T*Z-*.dump; do
    name=${file##*/}
    day=${name#perennial-}
    dates=$(date -d "${day%T*}" '+%F %G-%V %Y-%m' 2>/dev/null) && echo "$name $dates"
  done | sort -r | awk '
    BEGIN { limit[2] = 7; limit[3] = 4; limit[4] = 12 }
    {
      keep = 0
      for (column in limit) if ($column != last[column] && kept[column] < limit[column]) {
        last[column] = $column
        kept[column]++
        keep = 1
      }
      if (!keep) print $1
    }' | while read -r name; do
    [ -n "$(find "$folder/$name" -mmin +2880)" ] || continue
    held=${name#*Z-}
    if [ $# = 1 ] && [ "${held%.dump}" -gt $((2 * $1)) ]; then
      log "Kept $name: the list has only $1 entries now. To delete it, run: docker compose exec backup sh /backup.sh rotate"
    else
      rm -- "$folder/$name" && log "Deleted $name."
    fi
  done
}

clean() {
  rm -rf "$work"
}

# Runs one function at a time, also if two containers share the folder.
exclusively() (
  flock -n 9 || { log "Another backup is running."; exit 1; }
  "$@"
  result=$?
  clean
  exit $result
) 9>"$folder/.lock"

# A backup from the future, which a wrong clock made, does not count.
is_due() {
  touch "$folder/.now"
  [ -z "$(find "$folder" -name 'perennial-*.dump' -mmin -1440 ! -newer "$folder/.now")" ]
}

mkdir -p "$folder" || exit
case ${1-} in
  once) exclusively back_up ;;
  rotate) exclusively rotate ;;
  "")
    exclusively clean # Remove the files of a killed backup.
    while :; do
      if is_due; then
        exclusively back_up || log "The backup failed. The next attempt is in an hour."
      fi
      sleep 3600
    done
    ;;
  *)
    echo "Usage: backup.sh [once | rotate]" >&2
    exit 2
    ;;
esac
