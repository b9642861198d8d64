// docs/backup.sh with Postgres: a good backup, and faults after which the earlier one stays.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { migrate } from "../../server/database/migrate.ts";
import { projectRoot } from "../../server/project-root.ts";
import { findProgram } from "../support/programs.ts";
import { queryAs } from "../support/query.ts";
import { asPostgres, withInstalledPostgres } from "./installed-postgres.ts";

const execute = promisify(execFile);

const insert =
  "INSERT INTO earlyaccess (id, name, email, company) SELECT gen_random_uuid(), 'Ada', i || '@example.com', 'A' FROM generate_series(1, 1000) i";

export const runBackupScript = () =>
  withInstalledPostgres(async (url, folder) => {
    await queryAs(url("postgres"), "CREATE ROLE perennial_owner LOGIN CREATEROLE");
    await queryAs(url("postgres"), "CREATE DATABASE perennial OWNER perennial_owner");
    const ownerUrl = url("perennial", "perennial_owner");
    await migrate({ ownerUrl, webUrl: url("perennial", "perennial_web") });
    await queryAs(ownerUrl, insert);
    const backups = join(folder, "backups");
    const tools = dirname(findProgram("pg_dump"));
    const attempt = async (changes: Record<string, string> = {}) => {
      const { hostname: PGHOST, port: PGPORT } = new URL(ownerUrl);
      const variables = { BACKUP_FOLDER: backups, PGHOST, PGPORT, PGUSER: "perennial_owner", PGDATABASE: "perennial" };
      const PATH = `${tools}:${process.env.PATH}`;
      const env = Object.entries({ ...variables, PATH, ...changes }).map(([name, value]) => `${name}=${value}`);
      const script = ["env", ...env, "sh", join(projectRoot, "docs/backup.sh"), "once"];
      const [file = "", ...args] = [...asPostgres, ...script];
      const result = await execute(file, args, { cwd: "/" }).catch(
        (error: { stdout: string; stderr: string }) => error,
      );
      return `${result.stdout}${result.stderr}`;
    };
    const state = async () => ({
      files: (await readdir(backups)).filter((name) => !/^\.(lock|now)$/.test(name)),
      rows: (await queryAs(ownerUrl, "SELECT entries FROM earlyaccess_backups")).map(({ entries }) => entries),
    });
    /** Puts a pg_dump in front of the real one. */
    const replaceDump = async (name: string, script: string) => {
      const bin = join(folder, name);
      await mkdir(bin);
      await writeFile(join(bin, "pg_dump"), `#!/bin/sh\n${script}\n`);
      await chmod(join(bin, "pg_dump"), 0o755);
      return { PATH: `${bin}:${tools}:${process.env.PATH}` };
    };

    assert.match(await attempt(), /Wrote perennial-\S+\.dump, tested by a restore\. Entries: 1000\.\n$/);
    const good = await state();
    assert.deepEqual([good.files.length, good.rows], [1, [1000]]);
    assert.equal((await stat(join(backups, good.files[0] as string))).mode & 0o777, 0o600);

    const truncated = await replaceDump("truncated", `${tools}/pg_dump "$@"; truncate -s -1000 "$work/dump"`);
    assert.match(await attempt(truncated), /The dump is not usable: none of its 1000 entries could be restored\.\n/);
    const incomplete = await replaceDump("incomplete", `${tools}/pg_dump --exclude-table-data=earlyaccess "$@"`);
    assert.match(await attempt(incomplete), /The dump is not usable: 0 of its 1000 entries could be restored\.\n/);
    const killed = await replaceDump(
      "killed",
      `${tools}/pg_dump "$@"; kill -9 $(ps -o ppid= -p $PPID); truncate -s 100 "$work/dump"`,
    );
    assert.match(await attempt(killed), /The dump failed\.\n/);
    const missing = await replaceDump("missing", "exit 1");
    assert.match(await attempt(missing), /The dump failed\.\n/);
    assert.match(await attempt({ PGPORT: "1" }), /Connection refused/);
    assert.deepEqual(await state(), good);
    return `one backup of 1,000 entries; four broken dumps and a missing server left it as it was`;
  });
