// waitlist stats: views, sign-ups and their rate by day, source and status, as tables in the terminal.
import { Command } from "commander";
import { printable } from "../../errors.ts";
import { count, print, withOwner } from "../command.ts";
import { inPeriod, sinceOption, untilOption, type Period } from "./moment.ts";
import { countFigures, sumFigures, type Figure, type Figures } from "../../models/list/statistics.ts";

/** The numbers of days and sources without --all. */
const [shownDays, shownSources] = [14, 10];
/** The number of sources with --all. A flood of sign-ups can name a million. */
const mostSources = 1_000;

type Options = Period & { all?: boolean; withFlagged?: boolean };

export const stats = new Command("stats")
  .summary("shows views, sign-ups and their rate by day, source and status")
  .description(
    "Views are loads of the landing page, not visitors. A source is utm_source, else the site that linked to the page, " +
      "else direct. Days are in UTC. The rate is sign-ups per view, without imported entries and without days on which no " +
      "views were counted. Flagged entries count only with --with-flagged.",
  )
  .option(
    "--all",
    `every day and up to ${count(mostSources)} sources, instead of ${shownDays} days and ${shownSources} sources`,
  )
  .option("--with-flagged", "include flagged entries")
  .addOption(sinceOption())
  .addOption(untilOption())
  .action(async ({ all = false, withFlagged = false, ...period }: Options) => {
    await withOwner(async (client) => {
      const options = { withFlagged, sources: all ? mostSources : shownSources };
      const figures = await countFigures(client, inPeriod(period), options);
      print(formatTables(figures, all));
    });
  });

interface Column {
  heading: string;
  cell: (row: Figure) => string;
}

const signups: Column = { heading: "Sign-ups", cell: (row) => count(row.signups) };
const confirmed: Column = { heading: "Confirmed", cell: (row) => count(row.confirmed) };
const views: Column = { heading: "Views", cell: (row) => count(row.views) };
const rate: Column = { heading: "Rate", cell: formatRate };

/** For example "4.5 %"; "–" if sign-ups and views are not of the same visits. */
function formatRate({ converted, views: trials }: Figure): string {
  return trials === 0 || converted > trials ? "–" : `${((100 * converted) / trials).toFixed(1)} %`;
}

/** Leaves out columns that have no figure. At most 80 columns wide, unless --all shows whole labels. */
function formatTables({ total, byDay, bySource, byStatus, flagged }: Figures, all: boolean): string {
  const note = flagged > 0 ? [`Not counted: ${count(flagged)} flagged; see --with-flagged.`] : [];
  if (byDay.length === 0) return `${["No views and no sign-ups.", ...note].join("\n")}\n`;
  const ofEntries = total.confirmed > 0 ? [signups, confirmed] : [signups];
  const columns = total.views > 0 ? [views, ...ofEntries, rate] : ofEntries;
  const toRows = (heading: string, figures: Figure[], shown: Column[]) => [
    [heading, ...shown.map((column) => column.heading)],
    ...figures.map((figure) => [shorten(figure.label, all ? 100 : 30), ...shown.map(({ cell }) => cell(figure))]),
  ];
  const tables = [
    toRows("Day", [...(all ? byDay : joinEarlier(byDay)), total], columns),
    toRows("Source", bySource, columns),
    toRows("Status", byStatus, ofEntries),
  ];
  const labels = Math.max(...tables.flat().map(([label = ""]) => label.length));
  const align = ([label = "", ...cells]: string[]) =>
    [label.padEnd(labels), ...cells.map((cell) => cell.padStart("Confirmed".length))].join("  ");
  return `${[...tables.map((rows) => rows.map(align).join("\n")), ...note].join("\n\n")}\n`;
}

function joinEarlier(byDay: Figure[]): Figure[] {
  const earlier = byDay.slice(shownDays);
  if (earlier.length < 2) return byDay;
  return [...byDay.slice(0, shownDays), sumFigures(`${count(earlier.length)} earlier days`, earlier)];
}

function shorten(label: string, longest: number): string {
  const characters = Array.from(printable(label));
  return characters.length > longest ? `${characters.slice(0, longest - 1).join("")}…` : characters.join("");
}
