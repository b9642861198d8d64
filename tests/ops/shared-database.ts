// Migrating a database of another application, which pg_dump and the list of roles show unchanged.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { migrate } from "../../server/database/migrate.ts";
import { createOtherApplication, describeOthers } from "../support/other-application.ts";
import type { Step } from "../support/steps.ts";
import { withInstalledPostgres } from "./installed-postgres.ts";

const execute = promisify(execFile);

export const sharedDatabaseStep: Step = {
  name: "migrate a database that another application uses, and compare pg_dump and roles",
  run: () =>
    withInstalledPostgres(async ({ cluster: { passwords }, holder, programs }) => {
      const url = (user: string, password: string) =>
        `postgresql://${user}:${password}@127.0.0.1:${holder.port}/shared`;
      const superuser = url("postgres", passwords.superuser);
      const urls = {
        ownerUrl: url("perennial_owner", passwords.owner),
        webUrl: url("perennial_web", "it's a long secret"),
        senderUrl: url("perennial_notify", "also a long secret"),
      };
      await holder.client.query("CREATE DATABASE shared");
      await createOtherApplication(superuser, { name: "other", owner: "perennial_owner", web: "perennial_web" });
      const look = async () => ({
        schema: await dumpOthers(join(programs, "pg_dump"), superuser),
        catalogs: await describeOthers(superuser, ""),
      });
      const before = await look();
      for (const ownerUrl of [urls.ownerUrl, superuser]) await migrate({ ...urls, ownerUrl });
      assert.deepEqual(await look(), before);
      return `${before.schema.length} statements of pg_dump and ${before.catalogs.length} catalog entries are the same`;
    }),
};

/** The entries of pg_dump that are not the site's; -T leaves functions, types and comments of a table in. */
async function dumpOthers(pgDump: string, url: string): Promise<string[]> {
  const tables = ["earlyaccess", "earlyaccess_*", "_prisma_migrations*"].map(
    (table) => `--exclude-table=public.${table}`,
  );
  const args = ["--schema-only", "--exclude-schema=graphile_worker", ...tables, url];
  const { stdout } = await execute(pgDump, args, { maxBuffer: 1e8 });
  const entries = stdout.replaceAll(/^\\(un)?restrict .*$/gm, "").split(/^--\n(?=-- Name: )/m);
  return entries.filter((entry) => !/^-- Name: (FUNCTION |TYPE )?earlyaccess_/.test(entry));
}
