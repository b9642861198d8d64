// waitlist stats: views, sign-ups and their rate by day, source and status, as tables in the terminal or as an HTML page.
import { writeFile } from "node:fs/promises";
import { printable } from "../../../operator-messages.ts";
import { print } from "../../print.ts";
import type { Command } from "../command.ts";
import { periodOptions, readPeriod } from "../moment.ts";
import { withOwner } from "../owner.ts";
import { writePrivately } from "../private-file.ts";
import { countFigures } from "./figures.ts";
import { renderReport } from "./report.tsx";
import { formatTables, shownDays, toTables } from "./tables.ts";

const shownSources = 10;
/** With --all. A flood of sign-ups can name a million. */
const mostSources = 1_000;

export const stats: Command = {
  summary: "shows views, sign-ups and their rate by day, source and status",
  details: [
    "Views are loads of the landing page, not visitors: a person who comes back is counted again. A source is utm_source,",
    "else the site that linked to the page, else direct. Days are in UTC; days with no figures are omitted. The rate is",
    "sign-ups per view, without imported entries and without days on which no views were counted.",
    "Flagged entries (suspected spam, a disposable address, unusual volume) count only with --with-flagged.",
  ].join("\n"),
  positionals: [],
  options: {
    all: {
      description: `show every day and up to 1,000 sources, instead of ${shownDays} days and ${shownSources} sources`,
    },
    html: { value: "FILE", description: "write an HTML page with a chart instead; - is stdout" },
    "with-flagged": { description: "include flagged entries" },
    since: periodOptions.since,
    until: periodOptions.until,
  },
  run: async ({ value, has }) => {
    const period = readPeriod(value);
    const file = value("html");
    const all = has("all");
    await withOwner(async (client) => {
      const options = { withFlagged: has("with-flagged"), sources: all ? mostSources : shownSources };
      const figures = await countFigures(client, period, options);
      const tables = toTables(figures, all);
      if (file === undefined) return print(formatTables(tables, figures, all));
      const page = renderReport(tables, figures, new Date());
      if (file === "-") return print(page);
      await writePrivately(file, (draft) => writeFile(draft, page));
      print(`Wrote ${printable(file)}.\n`);
    });
  },
};
