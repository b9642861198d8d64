// waitlist backup: writes the site's whole database to a file with pg_dump.
import { stat } from "node:fs/promises";
import { printable } from "../../../operator-messages.ts";
import { print } from "../../print.ts";
import type { Command } from "../command.ts";
import { withOwner } from "../owner.ts";
import { findTool, runTool } from "./postgres-tools.ts";
import { writePrivately } from "../private-file.ts";
import { count } from "../progress.ts";

export const backup: Command = {
  summary: "writes all tables and their data to FILE, for restore or pg_restore",
  details: [
    "Needs pg_dump of the server's version or newer, from PATH or Debian's /usr/lib/postgresql. The image does not",
    "include it: with docker compose, run docker compose exec -T database pg_dump …, as in docs/operate.md. The site can",
    "run meanwhile: a backup is one snapshot. FILE is in pg_dump's custom format. It appears when it is complete, and only",
    "you can read it. It holds all personal data unencrypted: protect it as you protect the database.",
  ].join("\n"),
  positionals: ["FILE"],
  options: {},
  run: ({ positionals: [file = ""] }) =>
    withOwner(async (client, { ownerUrl }) => {
      const tool = await findTool("pg_dump", client);
      await writePrivately(file, async (draft) => {
        await runTool(tool, ["--format=custom", "--schema=public", "--no-password", `--file=${draft}`], ownerUrl);
      });
      const { size } = await stat(file);
      print(`Wrote ${printable(file)}: ${count(size)} bytes.\n`);
    }),
};
