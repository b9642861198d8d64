// Backups by deploy/backup.sh and by hand, restored with the commands of docs/backup.md: every row returns, and no erased person.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../../server/database/embedded/free-port.ts";
import { migrate } from "../../server/database/migrate.ts";
import type { DatabaseSettings } from "../../server/config/database-urls.ts";
import { eraseEntries } from "../../server/models/operators/erasures.ts";
import { projectRoot } from "../../server/config/project-root.ts";
import { queryAs, withClient } from "../support/postgres.ts";
import { findProgram, runBuiltWaitlist } from "../support/run.ts";

const execute = promisify(execFile);
const tools = dirname(findProgram("pg_dump"));
const erased = Array.from({ length: 1_000 }, (_, i) => `person${i}@example.com`);
const undone = "person1@example.com";
/** Was erased a year ago, and signed up again: no restore removes this entry. */
const erasedBefore = "person6000@example.com";

export const backUpAndRestore = () =>
  withInstalledPostgres(async (url, folder) => {
    await queryAs(url("postgres"), "CREATE ROLE perennial_owner LOGIN CREATEROLE");
    const create = async (name: string) => {
      await queryAs(url("postgres"), `CREATE DATABASE ${name} OWNER perennial_owner`);
      return { ownerUrl: url(name, "perennial_owner"), webUrl: url(name, "perennial_web") };
    };
    const file = (name: string) => join(folder, name);
    const database = await create("original");
    const { ownerUrl } = database;
    await migrate(database);
    await queryAs(ownerUrl, fill);
    const rows = await readRows(ownerUrl, erased);
    assert.equal(rows.length, 9_000 + 1_429 + 2 + 10);
    await execute(join(tools, "pg_dump"), ["-Fc", `--file=${file("whole.dump")}`, `--dbname=${ownerUrl}`]);
    await queryAs(url("original"), addOthers);
    // The owner may not read the large object.
    await queryAs(
      database.webUrl,
      "SELECT lo_creat(-1); ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON TABLES TO PUBLIC",
    );
    const scripted = await backUpByScript(ownerUrl, folder);
    await assertFaultsLeave(ownerUrl, folder);
    await runDocumented("pg_dump", "-n public", ownerUrl, file("manual.dump"));
    await waitlist(database, "export", file("list.csv"));
    await assertAllOrNothing(ownerUrl, file("manual.dump"));

    await eraseAll(ownerUrl);
    await queryAs(
      ownerUrl,
      "INSERT INTO earlyaccess_kept.addresses SELECT earlyaccess_kept.hash_email($1), now() - interval '1 year'",
      [erasedBefore],
    );
    await runDocumented("pg_dump", "-n earlyaccess_kept", ownerUrl, file("kept.sql"));
    for (const backup of [scripted, file("manual.dump"), file("whole.dump")]) {
      await queryAs(ownerUrl, "DROP TABLE earlyaccess_status_changes, earlyaccess_notices, earlyaccess_views");
      await restore(database, backup, rows);
    }
    assert.deepEqual(await queryAs(url("original"), "SELECT note FROM shop.orders"), [{ note: "kept" }]);
    const imported = await waitlist(database, "import", file("list.csv"));
    assert.match(imported, /^10,000 lines, 9,000 already on the list, .* 999 erased, 0 wrong\.\n/);
    // Whoever undid a sign-up may have typed the address of somebody else.
    assert.deepEqual(await findErased(ownerUrl), [{ email: undone }]);

    // The whole database is lost, and with it the schema of which there is a copy.
    const other = await create("other");
    const load = (name: string) => runDocumented("psql", "DELETE", other.ownerUrl, file(name));
    await restore(other, scripted, rows, () => load("kept.sql"));
    await waitlist(other, "doctor");
    await assertForeignCopyRefused(await create("strangers"), file("kept.sql"));
    // Later hashes of the same installation.
    await waitlist(database, "erase", "person5000@example.com", erasedBefore);
    await runDocumented("psql", "TO STDOUT", ownerUrl, file("late.txt"));
    await runDocumented("psql", "FROM STDIN", other.ownerUrl, file("late.txt"));
    assert.match(await waitlist(other, "purge"), /^Removed 2 entries of erased people /);
    await assertOlderBackupMigrates(other, scripted, folder);
    await assertLargerBackupsStay(ownerUrl, join(folder, "backups"));
    const [server] = await queryAs(ownerUrl, "SHOW server_version");
    return `1,000 of 10,000 entries erased; none returned after 4 restores and an import, and all other rows did; Postgres ${String(server?.server_version)}`;
  });

async function waitlist(database: DatabaseSettings, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runBuiltWaitlist(database, args);
  assert.deepEqual([code, stderr], [0, ""], `${args.join(" ")}: ${stdout}`);
  return stdout;
}

/** Returns the path of the backup. */
async function backUpByScript(ownerUrl: string, folder: string): Promise<string> {
  const backups = join(folder, "backups");
  const printed = await runBackupScript(ownerUrl, backups, await addProgram(folder, "room", "df", reportRoom(5)));
  assert.match(printed, /Wrote .*, tested by a restore\. Entries: 10000\.\n$/);
  const [name = "", ...others] = (await readdir(backups)).filter((one) => one.endsWith(".dump"));
  assert.deepEqual(others, []);
  assert.equal((await stat(join(backups, name))).mode & 0o777, 0o600);
  const { stdout } = await execute(join(tools, "pg_restore"), ["--list", join(backups, name)]);
  assert.doesNotMatch(stdout, /earlyaccess_kept/, "a backup holds hashes of erased addresses");
  return join(backups, name);
}

/** Restores as docs/backup.md says. The rows return without the erased ones, and replace an entry that was added since. */
async function restore(database: DatabaseSettings, backup: string, rows: unknown[], load?: () => Promise<void>) {
  await runDocumented("pg_restore", "--single-transaction", database.ownerUrl, backup);
  await migrate(database);
  await load?.();
  assert.match(await waitlist(database, "purge"), /^Removed 1,000 entries of erased people /);
  assert.deepEqual(await readRows(database.ownerUrl), rows);
  await queryAs(database.webUrl, insertOne); // The web role has its rights again.
}

const fill = `
  INSERT INTO earlyaccess (id, name, email, company, job_title, utm_source, suspected_spam, created_at)
  SELECT gen_random_uuid(), E'Zoë "O''Brien" \\\\ ' || i, 'person' || i || '@example.com', '=A;B,C', NULL, 'news',
         i % 7 = 0, now() - i * interval '1 minute' FROM generate_series(0, 9999) i;
  UPDATE earlyaccess SET status = 'invited' WHERE suspected_spam;
  UPDATE earlyaccess SET mail_tokens = ARRAY[sha256('left')], mailed_at = now() WHERE email = 'person2@example.com';
  UPDATE earlyaccess SET token_hash = sha256('undone') WHERE email = '${undone}';
  INSERT INTO earlyaccess_notices (id, text)
  SELECT left(encode(sha256(convert_to(text, 'UTF8')), 'hex'), 32), text FROM unnest(ARRAY['One', 'Two']) text;
  INSERT INTO earlyaccess_views SELECT date '2026-01-01' + i, 'news', i + 1 FROM generate_series(0, 9) i`;
/** Another application with a schema of its own, which the owner may not read, and an extension. */
const addOthers = `CREATE SCHEMA shop; CREATE TABLE shop.orders AS SELECT 'kept' AS note; CREATE EXTENSION pgcrypto SCHEMA public`;
const insertOne =
  "INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'New', 'new@example.com', 'New')";

/** Returns every row of the site's tables, but not the entries of these addresses, nor the backups. */
const readRows = (ownerUrl: string, others: string[] = []) =>
  queryAs(
    ownerUrl,
    `SELECT entry::text AS row FROM earlyaccess entry WHERE email <> ALL ($1)
     UNION ALL SELECT change::text FROM earlyaccess_status_changes change
     UNION ALL SELECT notice::text FROM earlyaccess_notices notice
     UNION ALL SELECT views::text FROM earlyaccess_views views ORDER BY row`,
    [others],
  );

/** Returns who of the erased people is on the list. */
const findErased = (ownerUrl: string) =>
  queryAs(ownerUrl, "SELECT email FROM earlyaccess WHERE email = ANY ($1)", [erased]);

/** One leaves by the link of a mail, one undoes the sign-up, and the others are erased as by waitlist erase. */
const eraseAll = (ownerUrl: string) =>
  withClient(ownerUrl, async (client) => {
    await client.query("SELECT earlyaccess_leave(sha256('left')), earlyaccess_leave(sha256('undone'))");
    const { rows } = await client.query("SELECT id FROM earlyaccess WHERE email = ANY ($1)", [erased]);
    assert.equal(rows.length, 998);
    const ids = rows.map(({ id }) => id as string);
    await eraseEntries(client, ids, []);
  });

/** A database with hashes of its own refuses the copy of another installation, and nothing is changed. */
async function assertForeignCopyRefused(foreign: DatabaseSettings, copy: string): Promise<void> {
  await migrate(foreign);
  await queryAs(foreign.webUrl, insertOne);
  await waitlist(foreign, "erase", "new@example.com");
  const state = () => queryAs(foreign.ownerUrl, "SELECT * FROM earlyaccess_kept.keys, earlyaccess_kept.addresses");
  const before = await state();
  await assert.rejects(runDocumented("psql", "DELETE", foreign.ownerUrl, copy), /duplicate key .* "keys_pkey"/s);
  assert.deepEqual(await state(), before);
}

/** A backup from before a further migration is restored in place: migrating applies that migration again. */
async function assertOlderBackupMigrates(database: DatabaseSettings, backup: string, folder: string): Promise<void> {
  const migrations = join(folder, "migrations");
  await cp(join(projectRoot, "prisma/migrations"), migrations, { recursive: true });
  const further = "29990101000000_further";
  await mkdir(join(migrations, further));
  await writeFile(join(migrations, further, "migration.sql"), "ALTER TABLE earlyaccess ADD COLUMN further int");
  const migrateFurther = async () => assert.deepEqual(await migrate(database, { folder: migrations }), [further]);
  await migrateFurther();
  await runDocumented("pg_restore", "--single-transaction", database.ownerUrl, backup);
  await migrateFurther();
  await queryAs(database.webUrl, insertOne);
}

/** Runs the script. @returns what it printed. */
async function runBackupScript(ownerUrl: string, folder: string, path = tools, command = "once"): Promise<string> {
  const { hostname, port, username, pathname } = new URL(ownerUrl);
  const env = [
    `BACKUP_FOLDER=${folder}`,
    `PGHOST=${hostname}`,
    `PGPORT=${port}`,
    `PGUSER=${username}`,
    `PGDATABASE=${pathname.slice(1)}`,
    `PATH=${path}:${process.env.PATH}`,
  ];
  const [file, ...args] = [...asPostgres, "env", ...env, "sh", join(projectRoot, "deploy/backup.sh"), command];
  const result = await execute(file, args, { cwd: "/" }).catch((error: { stdout: string; stderr: string }) => error);
  return `${result.stdout}${result.stderr}`;
}

/** A restore of a damaged backup fails, and changes nothing. */
async function assertAllOrNothing(ownerUrl: string, backup: string): Promise<void> {
  const before = await readRows(ownerUrl);
  const damaged = `${backup}.damaged`;
  await writeFile(damaged, readFileSync(backup).subarray(0, -20_000));
  await assert.rejects(runDocumented("pg_restore", "--clean", ownerUrl, damaged));
  assert.deepEqual(await readRows(ownerUrl), before);
}

/** Writes a program that stands in front of the real one. @returns the PATH. */
async function addProgram(folder: string, name: string, program: string, script: string): Promise<string> {
  const bin = join(folder, name);
  await mkdir(bin);
  await writeFile(join(bin, program), `#!/bin/sh\n${script}\n`);
  await chmod(join(bin, program), 0o755);
  return `${bin}:${tools}`;
}

const refusal = `pg_restore: error: COPY failed: "ada@example.com"\nCONTEXT:  line 1: "ada@example.com"`;

/** A df that reports 200,000 KB and so many halves of the database as free. The dump and the scratch database need two each. */
const reportRoom = (halves: number) =>
  `printf 'Free\\n- - - %d -\\n' $((200000 + ${halves} * $(psql -XAtc 'SELECT pg_database_size(current_database()) / 2048')))`;

/** A program of each kind stands in front of the real one. */
const faults: [name: string, program: string, script: string, message: RegExp][] = [
  ["truncated", "pg_dump", `${tools}/pg_dump "$@"; truncate -s -1000 "$work/dump"`, /not usable: none of its 10000/],
  ["incomplete", "pg_dump", `${tools}/pg_dump --exclude-table-data=earlyaccess "$@"`, /not usable: 0 of its 10000/],
  ["missing", "pg_dump", "exit 1", /The dump failed\.\n/],
  ["refused", "pg_restore", `echo '${refusal}' >&2; exit 1`, /^(?!.*ada@).* none of .*: COPY failed\n$/s],
  ["full", "df", reportRoom(3), /The disk is too full: /],
];

/** Asserts that a backup that fails leaves the earlier one, and is not recorded. */
async function assertFaultsLeave(ownerUrl: string, folder: string): Promise<void> {
  const backups = join(folder, "backups");
  const state = async () => ({
    files: (await readdir(backups)).filter((name) => !name.startsWith(".")),
    rows: await queryAs(ownerUrl, "SELECT entries FROM earlyaccess_backups"),
  });
  const good = await state();
  assert.deepEqual(good.rows, [{ entries: 10_000 }]);
  for (const [name, program, script, message] of faults) {
    assert.match(await runBackupScript(ownerUrl, backups, await addProgram(folder, name, program, script)), message);
  }
  const unreachable = Object.assign(new URL(ownerUrl), { port: "1" }).href;
  assert.match(await runBackupScript(unreachable, backups), /Connection refused/);
  assert.deepEqual(await state(), good);
}

/** The backups of an emptied list delete none that holds more, but an operator can. */
async function assertLargerBackupsStay(ownerUrl: string, backups: string): Promise<void> {
  const names = ["03", "02", "01"].map((hour, i) => `perennial-2020-01-01T${hour}0000Z-${2 + (i % 2)}.dump`);
  for (const name of names) {
    await writeFile(join(backups, name), "");
    await utimes(join(backups, name), 0, 0);
  }
  const left = async () => (await readdir(backups)).filter((name) => names.includes(name)).toSorted();
  await queryAs(ownerUrl, "DELETE FROM earlyaccess WHERE email <> (SELECT max(email) FROM earlyaccess)");
  // Somebody signs up while the list is backed up.
  const signUp = `psql -XAtqc "${insertOne}" && exec ${tools}/pg_dump "$@"`;
  assert.match(
    await runBackupScript(ownerUrl, backups, await addProgram(dirname(backups), "busy", "pg_dump", signUp)),
    /Kept perennial-2020-01-01T020000Z-3\.dump: the list has only 1 /,
  );
  assert.deepEqual(await left(), [names[1], names[0]]);
  assert.match(await runBackupScript(ownerUrl, backups, tools, "rotate"), /Deleted perennial-/);
  assert.deepEqual(await left(), [names[0]]);
}

/** Runs the only command of docs/backup.md that begins with the tool and has this part, on another database and file. */
export async function runDocumented(tool: string, part: string, ownerUrl: string, file: string): Promise<void> {
  const text = readFileSync(join(projectRoot, "docs/backup.md"), "utf8").replaceAll(/ \\\n +/g, " ");
  const documented = Array.from(
    text.matchAll(/ database ((?:pg_|psql)\S* .* [<>]) exports\/[\w.]+/gm),
    ([, found = ""]) => found,
  );
  const [command = "", ...others] = documented.filter((one) => one.startsWith(`${tool} `) && one.includes(part));
  assert(command && others.length === 0, `docs/backup.md has one command ${tool} with ${part}`);
  const words = Array.from(command.matchAll(/'([^']*)'|\S+/g), ([word, quoted]) => quoted ?? word).slice(1);
  const options = words.slice(0, -1).filter((word) => !/^(-[Ud]|perennial\w*)$/.test(word));
  const redirected = `exec "$@" ${words.at(-1)} "$0"`;
  await execute("sh", ["-c", redirected, file, join(tools, tool), ...options, "-d", ownerUrl]);
}

/** Postgres refuses to run as root; Debian's package creates a user for it. */
const asPostgres = process.getuid?.() === 0 ? ["runuser", "-u", "postgres", "--"] : [];

/**
 * Runs a cluster of the installed Postgres, because the embedded one has no pg_dump of its version. Calls `use` with a
 * function that returns the URL of a database as a user, and a folder that is deleted at the end.
 */
export async function withInstalledPostgres(
  use: (url: (database: string, user?: string) => string, folder: string) => Promise<string>,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "perennial-postgres-"));
  const port = await freePort();
  const run = async (name: string, ...args: string[]) => {
    const [file = "", ...rest] = [...asPostgres, join(tools, name), "-D", join(folder, "data"), ...args];
    await execute(file, rest, { cwd: "/" });
  };
  if (asPostgres.length > 0) await execute("chown", ["postgres", folder]);
  await run("initdb", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C");
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=`;
  await run("pg_ctl", "start", "-w", "-l", join(folder, "log"), "-o", options);
  try {
    const url = (database: string, user = "postgres") => `postgresql://${user}:secret@127.0.0.1:${port}/${database}`;
    return await use(url, folder);
  } finally {
    await run("pg_ctl", "stop", "-m", "immediate");
    await rm(folder, { recursive: true });
  }
}
