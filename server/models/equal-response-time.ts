// Equal response times: the turn that every statement takes before it changes an entry at a visitor's request.

/**
 * The beginning of a statement that changes entries; `turn.batch` is its parameter $1. It makes the statement take the same time for
 * known and new addresses, for valid and forged tokens:
 * - A message in the write-ahead log makes the commit wait for the disk, also if no entry changes.
 * - An advisory lock, one for the table, makes statements on the same entry wait alike, whatever the first of them changed.
 *
 * Postgres evaluates the columns in their order, before anything that depends on `turn.batch`. With ten replicas and a disk of 30 ms,
 * a turn comes after 0.3 s. If another transaction holds an entry, the statement fails after 60 ms, because all
 * changes of the batch wait for it.
 */
export const turn = `
  WITH turn AS MATERIALIZED (
    SELECT set_config('lock_timeout', '1900ms', true),
      pg_advisory_xact_lock('public.earlyaccess'::regclass::oid::bigint),
      set_config('lock_timeout', '60ms', true),
      pg_logical_emit_message(true, 'earlyaccess', ''),
      $1::json AS batch)`;
