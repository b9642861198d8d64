// waitlist restore: replaces the database by a backup.
import { access, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type pg from "pg";
import { eraseAgain, hasErasures, requireErasureKey } from "../../../database/erasures.ts";
import { migrate } from "../../../database/migrate.ts";
import { OperatorError, listNames, printable } from "../../../operator-messages.ts";
import { print } from "../../print.ts";
import type { Command } from "../command.ts";
import { withOwner } from "../owner.ts";
import { findTool, runTool, type Tool } from "./postgres-tools.ts";
import { count } from "../progress.ts";

export const restore: Command = {
  summary: "restores a backup into a database without entries",
  details: [
    "Needs pg_restore of the server's version or newer, from PATH or Debian's /usr/lib/postgresql. The image does not",
    "include it: with docker compose, run docker compose exec -T database pg_restore …, as in docs/operate.md. Restores",
    "everything or nothing: if it fails, the database is unchanged. Then migrates, which grants the web role its rights.",
    "Stop the site first: sign-ups during a restore are lost or refused. With ERASURE_KEY, the database keeps its list of",
    "erased addresses, and restore removes the entries that were erased after the backup. Without it, erase them again.",
  ].join("\n"),
  positionals: ["FILE"],
  options: { replace: { description: "REMOVE existing entries first" } },
  run: async ({ positionals: [file = ""], has }) => {
    await access(file).catch((error: NodeJS.ErrnoException) => {
      throw new OperatorError(`${printable(file)} cannot be read: ${error.code}`);
    });
    await withOwner(async (client, database) => {
      const tool = await findTool("pg_restore", client);
      const entries = await countEntries(client);
      if (entries > 0 && !has("replace")) {
        throw new OperatorError(
          `The database holds ${count(entries)} entries. With --replace, restore removes them first.`,
        );
      }
      // Before anything is changed. A new database has no erased addresses yet.
      if (await hasErasures(client)) await requireErasureKey(client, database.erasureKey);
      const contents = await runTool(tool, ["--list", file], database.ownerUrl);
      await refuseLeftovers(client, contents);
      await restoreListed(tool, file, contents, database.ownerUrl);
      const { applied } = await migrate(database);
      for (const name of applied) print(`Applied ${name}.\n`);
      print(`Restored ${count(await countEntries(client))} entries.\n`);
      if (database.erasureKey === undefined) return;
      const erased = await eraseAgain((sql, values) => client.query(sql, values), database.erasureKey);
      print(`Removed ${count(erased)} of them, which were erased after the backup.\n`);
    });
  },
};

async function countEntries(client: pg.Client): Promise<number> {
  const { rows: tables } = await client.query("SELECT to_regclass('public.earlyaccess') IS NOT NULL AS there");
  if (!tables[0].there) return 0;
  const { rows } = await client.query("SELECT count(*)::int AS entries FROM public.earlyaccess");
  return rows[0].entries as number;
}

/** Objects of a newer version would stay beside the tables of an older backup, and the next migration would fail on them. */
async function refuseLeftovers(client: pg.Client, contents: string): Promise<void> {
  if (!/ TABLE public earlyaccess /.test(contents)) throw new OperatorError("The file is not a backup of a waitlist.");
  const { rows } = await client.query<{ kind: string; name: string }>(
    `SELECT 'TABLE' AS kind, relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
     UNION ALL SELECT 'TYPE', typname FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typtype = 'e'
     UNION ALL SELECT 'FUNCTION', proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prokind = 'f'
       AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = pg_proc.oid AND deptype = 'e')
     ORDER BY kind DESC, name`,
  );
  const listed = contents.matchAll(/^\d+; \d+ \d+ (TABLE|TYPE|FUNCTION) public ([^\s(]+)/gm);
  const held = new Set(Array.from(listed, ([, kind, name]) => `${kind} ${name}`));
  const left = rows.filter(({ kind, name }) => !held.has(`${kind} ${name}`));
  if (left.length === 0) return;
  const names = listNames(left.map(({ kind, name }) => `${kind.toLowerCase()} ${name}`));
  throw new OperatorError(
    `The backup lacks some objects of the database: ${names}. Restore into a new, empty database.`,
  );
}

/** Restores no rights: migrating grants them to the web role of this database, which may have another name. */
async function restoreListed(tool: Tool, file: string, contents: string, ownerUrl: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "waitlist-restore-"));
  try {
    // The schema public exists, and may belong to another role. The erased addresses of a whole dump are older than the database's.
    const left = /^\d+; .* (?:SCHEMA - public|COMMENT - SCHEMA public|earlyaccess_erasures) .*$/gm;
    const list = contents.replaceAll(left, "; $&");
    await writeFile(join(folder, "list"), list);
    const whole = ["--exit-on-error", "--single-transaction", "--clean", "--if-exists"];
    const others = ["--no-owner", "--no-privileges", "--no-password", `--use-list=${join(folder, "list")}`];
    await runTool(tool, [...whole, ...others, `--dbname=${databaseName(ownerUrl)}`, file], ownerUrl);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const databaseName = (url: string) => decodeURIComponent(new URL(url).pathname.slice(1));
