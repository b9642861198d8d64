// waitlist stats: views, sign-ups and their rate by day and source, as tables in the terminal or as an HTML report.
import { writeFile } from "node:fs/promises";
import { printable } from "../../../operator-messages.ts";
import { print } from "../../print.ts";
import type { Command } from "../command.ts";
import { periodOptions, readPeriod } from "../moment.ts";
import { withOwner } from "../owner.ts";
import { writePrivately } from "../private-file.ts";
import { countFigures } from "./figures.ts";
import { recentPeriods } from "./recent.ts";
import { renderReport, sourcesInReport } from "./report.tsx";
import { drawFigures, sourcesOnScreen } from "./tables.ts";

/** With --all. A flood of sign-ups can name a million. */
const mostSources = 1_000;

export const stats: Command = {
  summary: "shows views, sign-ups and their rate by day and by source",
  details: [
    "Views are loads of the landing page, not visitors: a person who comes back is counted again. A source is utm_source,",
    "else the site that linked to the page, else direct. Days are in UTC; days with no figures are omitted. The views of a day",
    "count as of its first moment for --since and --until. Invited entries have the status invited or joined.",
    "",
    "The rate is sign-ups per view, without imported entries and without days on which no views were counted. 95 % CI is its",
    "Wilson interval in percent: if those of two sources overlap, the better one may be better by chance.",
    "",
    "The periods on top end yesterday. Growth compares each with the period of the same length before it.",
    "Flagged entries (suspected spam, a disposable address, unusual volume) count only with --with-flagged.",
    "The page of --html runs no script and sends no request.",
  ].join("\n"),
  positionals: [],
  options: {
    all: { description: "show every day, 1,000 sources and the status, instead of one screen" },
    html: { value: "FILE", description: "write an HTML page with charts instead; - is stdout" },
    "with-flagged": { description: "include flagged entries, and show their number" },
    since: periodOptions.since,
    until: periodOptions.until,
  },
  run: async ({ value, has }) => {
    const period = readPeriod(value);
    const file = value("html");
    const all = has("all");
    await withOwner(async (client) => {
      const limit = file === undefined ? sourcesOnScreen : sourcesInReport;
      const sources = all ? mostSources : limit;
      const figures = await countFigures(client, period, { withFlagged: has("with-flagged"), sources });
      const now = new Date();
      const recent = (value("since") ?? value("until")) ? [] : recentPeriods(figures.byDay, now);
      if (file === undefined) return print(drawFigures(figures, recent, all));
      const page = renderReport({ figures, recent, all }, now);
      if (file === "-") return print(page);
      await writePrivately(file, (draft) => writeFile(draft, page));
      print(`Wrote ${printable(file)}.\n`);
    });
  },
};
