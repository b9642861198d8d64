// Migrating a database of another application, which pg_dump and the system catalogs show unchanged.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { migrate } from "../../server/database/migrate.ts";
import type { DatabaseUrls } from "../../server/database/roles.ts";
import { createOtherApplication, describeOthers } from "../support/other-application.ts";
import { findProgram } from "../support/programs.ts";
import { queryAs } from "../support/query.ts";
import { withInstalledPostgres } from "./installed-postgres.ts";

const execute = promisify(execFile);

export const migrateSharedDatabase = () =>
  withInstalledPostgres(async (url) => {
    const superuser = url("shared");
    const urls: DatabaseUrls = {
      ownerUrl: url("shared", "perennial_owner"),
      webUrl: url("shared", "perennial_web"),
      worker: { url: url("shared", "perennial_worker"), tasks: ["webhook"] },
    };
    await queryAs(url("postgres"), "CREATE ROLE perennial_owner LOGIN CREATEROLE");
    await queryAs(url("postgres"), "CREATE DATABASE shared");
    await createOtherApplication(superuser, { name: "other", owner: "perennial_owner", web: "perennial_web" });
    const describe = async () => ({
      schema: await dumpOthers(superuser),
      catalogs: await describeOthers(superuser, ""),
    });
    const before = await describe();
    for (const ownerUrl of [urls.ownerUrl, superuser]) await migrate({ ...urls, ownerUrl });
    assert.deepEqual(await describe(), before);
    return `${before.schema.length} statements of pg_dump and ${before.catalogs.length} catalog entries are unchanged`;
  });

/** Returns the entries of pg_dump that are not the site's; --exclude-table keeps functions, types and comments. */
async function dumpOthers(url: string): Promise<string[]> {
  const tables = ["earlyaccess", "earlyaccess_*", "_prisma_migrations*"].map(
    (table) => `--exclude-table=public.${table}`,
  );
  const args = ["--schema-only", "--exclude-schema=graphile_worker", ...tables, url];
  const { stdout } = await execute(findProgram("pg_dump"), args, { maxBuffer: 1e8 });
  const entries = stdout.replaceAll(/^\\(un)?restrict .*$/gm, "").split(/^--\n(?=-- Name: )/m);
  return entries.filter((entry) => !/^-- Name: (FUNCTION |TYPE )?earlyaccess_/.test(entry));
}
