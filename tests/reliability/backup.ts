// Backups by deploy/backup.sh, restored with the commands of docs/backup.md and compared row by row; and faults that leave the earlier backup.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { chmod, mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { migrate } from "../../server/database/migrate.ts";
import type { DatabaseUrls } from "../../server/database/roles.ts";
import { projectRoot } from "../../server/project-root.ts";
import { findProgram } from "../support/programs.ts";
import { queryAs } from "../support/query.ts";
import { runBuiltWaitlist } from "../support/waitlist.ts";
import { asPostgres, withInstalledPostgres } from "./installed-postgres.ts";

const execute = promisify(execFile);
const tools = dirname(findProgram("pg_dump"));

/** Runs the script once. @returns what it printed. */
export async function runBackupScript(ownerUrl: string, folder: string, path = tools): Promise<string> {
  const { hostname, port, username, pathname } = new URL(ownerUrl);
  const variables = {
    BACKUP_FOLDER: folder,
    PGHOST: hostname,
    PGPORT: port,
    PGUSER: username,
    PGDATABASE: pathname.slice(1),
    PATH: `${path}:${process.env.PATH}`,
  };
  const env = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const [file, ...args] = [...asPostgres, "env", ...env, "sh", join(projectRoot, "deploy/backup.sh"), "once"];
  const result = await execute(file, args, { cwd: "/" }).catch((error: { stdout: string; stderr: string }) => error);
  return `${result.stdout}${result.stderr}`;
}

/** Runs the only command of docs/backup.md that begins with the tool and has this part, on another database and file. */
export async function runDocumented(tool: string, part: string, ownerUrl: string, file: string): Promise<void> {
  const text = readFileSync(join(projectRoot, "docs/backup.md"), "utf8");
  const commands = Array.from(
    text.matchAll(/ database (pg_\w+ .*) [<>] exports\/\S+$/gm),
    ([, command = ""]) => command,
  );
  const [command = "", ...others] = commands.filter((one) => one.startsWith(`${tool} `) && one.includes(part));
  assert(command && others.length === 0, `docs/backup.md has one command ${tool} with ${part}`);
  const options = command
    .split(" ")
    .slice(1)
    .filter((word) => !/^(-[Ud]|perennial\w*)$/.test(word));
  const files = tool === "pg_dump" ? ["-f", file] : [file];
  await execute(join(tools, tool), [...options, "-d", ownerUrl, ...files]);
}

/** Restores the backup as docs/backup.md says, to the step before `waitlist purge`. */
export async function restoreAsDocumented(database: DatabaseUrls, file: string): Promise<void> {
  await runDocumented("pg_restore", "--clean", database.ownerUrl, file);
  await migrate(database);
}

/** Returns the path of the only backup in the folder. */
export async function findBackup(folder: string): Promise<string> {
  const [name = "", ...others] = (await readdir(folder)).filter((one) => one.endsWith(".dump"));
  assert.deepEqual(others, []);
  return join(folder, name);
}

export const backUpAndRestore = () =>
  withInstalledPostgres(async (url, folder) => {
    await queryAs(url("postgres"), "CREATE ROLE perennial_owner LOGIN CREATEROLE");
    const create = async (name: string) => {
      await queryAs(url("postgres"), `CREATE DATABASE ${name} OWNER perennial_owner`);
      return { ownerUrl: url(name, "perennial_owner"), webUrl: url(name, "perennial_web") };
    };
    const original = await create("original");
    await migrate(original);
    await queryAs(original.ownerUrl, fill);
    const backups = join(folder, "backups");
    assert.match(
      await runBackupScript(original.ownerUrl, backups),
      /Wrote .*, tested by a restore\. Entries: 10000\.\n$/,
    );
    const file = await findBackup(backups);
    assert.equal((await stat(file)).mode & 0o777, 0o600);

    const copy = await create("copy");
    for (const what of ["an empty database", "a database with another entry"]) {
      await restoreAsDocumented(copy, file);
      await assertSame(original, copy, what);
      await queryAs(copy.webUrl, insertOne);
    }
    const diagnosis = await runBuiltWaitlist(copy, ["doctor"]);
    assert.equal(diagnosis.code, 0, diagnosis.stdout);
    await assertFaultsLeave(original.ownerUrl, folder);
    const [server] = await queryAs(copy.ownerUrl, "SHOW server_version");
    return `all rows of 3 tables are equal after 2 restores; 4 broken dumps and a missing server left the backup; Postgres ${String(server?.server_version)}`;
  });

const fill = `
  INSERT INTO earlyaccess (id, name, email, company, job_title, utm_source, suspected_spam, created_at)
  SELECT gen_random_uuid(), E'Zoë "O''Brien" \\\\ ' || i, 'person' || i || '@example.com', E'=A;B,C\\tD', NULL, 'news',
         i % 7 = 0, now() - i * interval '1 minute' FROM generate_series(1, 10000) i;
  UPDATE earlyaccess SET status = 'invited' WHERE suspected_spam`;
const insertOne =
  "INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'New', 'new@example.com', 'New')";

async function assertSame(one: DatabaseUrls, other: DatabaseUrls, what: string): Promise<void> {
  for (const table of ["earlyaccess", "earlyaccess_status_changes", "_prisma_migrations"]) {
    const read = `SELECT t::text AS row FROM ${table} t ORDER BY t.id`;
    const rows = await queryAs(one.ownerUrl, read);
    assert.deepEqual(await queryAs(other.ownerUrl, read), rows, `${table}, after a restore into ${what}`);
    assert(rows.length > 0);
  }
}

/** A pg_dump of each kind stands in front of the real one. */
const brokenDumps: [string, string, RegExp][] = [
  ["truncated", `${tools}/pg_dump "$@"; truncate -s -1000 "$work/dump"`, /not usable: none of its 10000 entries/],
  ["incomplete", `${tools}/pg_dump --exclude-table-data=earlyaccess "$@"`, /not usable: 0 of its 10000 entries/],
  [
    "killed",
    `${tools}/pg_dump "$@"; kill -9 $(ps -o ppid= -p $PPID); truncate -s 100 "$work/dump"`,
    /The dump failed\.\n/,
  ],
  ["missing", "exit 1", /The dump failed\.\n/],
];

async function assertFaultsLeave(ownerUrl: string, folder: string): Promise<void> {
  const backups = join(folder, "backups");
  const state = async () => ({
    files: (await readdir(backups)).filter((name) => !/^\.(lock|now)$/.test(name)),
    rows: await queryAs(ownerUrl, "SELECT entries FROM earlyaccess_backups"),
  });
  const good = await state();
  assert.deepEqual([good.files.length, good.rows], [1, [{ entries: 10_000 }]]);
  for (const [name, script, message] of brokenDumps) {
    const bin = join(folder, name);
    await mkdir(bin);
    await writeFile(join(bin, "pg_dump"), `#!/bin/sh\n${script}\n`);
    await chmod(join(bin, "pg_dump"), 0o755);
    assert.match(await runBackupScript(ownerUrl, backups, `${bin}:${tools}`), message);
  }
  const unreachable = Object.assign(new URL(ownerUrl), { port: "1" }).href;
  assert.match(await runBackupScript(unreachable, backups), /Connection refused/);
  assert.deepEqual(await state(), good);
}
