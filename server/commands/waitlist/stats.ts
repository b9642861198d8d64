// waitlist stats: the funnel, and views, sign-ups and their rate by day, source and status, as tables and bars in the terminal.
import { Command } from "commander";
import { printable } from "../../text.ts";
import { count, print, withOwner } from "../command.ts";
import { periodSql, sinceOption, untilOption, type Period } from "./moment.ts";
import { countFigures, sumFigures, type Figure, type Figures } from "../../models/operators/statistics.ts";

/** The numbers of days and sources without --all. */
const [shownDays, shownSources] = [14, 10];
/** The number of sources with --all. A flood of sign-ups can name a million. */
const mostSources = 1_000;

type Options = Period & { all?: boolean; withFlagged?: boolean };

export const stats = new Command("stats")
  .summary("shows the way from views to people who joined, and sign-ups by day, source and status")
  .description(
    "Views are loads of the landing page, not visitors. A source is utm_source, else the site that linked to the page, " +
      "else direct. Days are in UTC. The rate is sign-ups per view, without imported entries and without days on which no " +
      "views were counted. Flagged entries count only with --with-flagged, and never in the funnel. Bars show sign-ups.",
  )
  .option(
    "--all",
    `every day and up to ${count(mostSources)} sources, instead of ${shownDays} days and ${shownSources} sources`,
  )
  .option("--with-flagged", "include flagged entries")
  .addOption(sinceOption())
  .addOption(untilOption())
  .action(async ({ all = false, withFlagged = false, ...period }: Options) => {
    await withOwner(async (client, _database, { MAIL_FROM }) => {
      const options = { withFlagged, sources: all ? mostSources : shownSources };
      const figures = await countFigures(client, periodSql(period), options);
      print(formatTables(figures, all, MAIL_FROM !== undefined));
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

/** Returns for example "4.5 %", or "–" if there are no views or fewer views than sign-ups. */
function formatRate({ converted, views: trials }: Figure): string {
  return trials === 0 || converted > trials ? "–" : percent(converted, trials);
}

const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`;

/** Leaves out columns that have no figure. At most 80 columns wide, unless --all shows whole labels. */
function formatTables(figures: Figures, all: boolean, sendsMail: boolean): string {
  const { total, byDay, bySource, byStatus, flagged } = figures;
  const note = flagged > 0 ? [`Not counted: ${count(flagged)} flagged; see --with-flagged.`] : [];
  if (byDay.length === 0) return `${["No views and no sign-ups.", ...note].join("\n")}\n`;
  const ofEntries = total.confirmed > 0 ? [signups, confirmed] : [signups];
  const columns = total.views > 0 ? [views, ...ofEntries, rate] : ofEntries;
  const toRows = (heading: string, rows: Figure[], shown: Column[]) => [
    [heading, ...shown.map((column) => column.heading)],
    ...rows.map((figure) => [shorten(figure.label, all ? 100 : 30), ...shown.map(({ cell }) => cell(figure))]),
  ];
  const days = all ? byDay : joinEarlier(byDay);
  const tables = [
    toFunnel(figures, sendsMail),
    toRows("Day", [...days, total], columns),
    toRows("Source", bySource, columns),
    toRows("Status", byStatus, ofEntries),
  ];
  const labels = Math.max(...tables.flat().map(([label = "", cell]) => (cell === undefined ? 0 : label.length)));
  const align = ([label = "", ...cells]: string[]) =>
    [label.padEnd(labels), ...cells.map((cell) => cell.padStart("Confirmed".length))].join("  ");
  const drawn = [[], days.filter((day) => byDay.includes(day)), bySource];
  const parts = tables.map((rows, i) => addBars(rows.map(align), drawn[i] ?? []).join("\n"));
  return `${[...parts, ...note].join("\n\n")}\n`;
}

/** Leaves out views if none were counted, and confirmed entries if the site sends no mails. */
function toFunnel({ total, funnel }: Figures, sendsMail: boolean): string[][] {
  const { signups: base, confirmed: sure, invited, joined } = funnel;
  const share = (part: number, whole: number, of: string) => (whole > 0 ? `${percent(part, whole)} of the ${of}` : "");
  return [
    ["Funnel"],
    ...(total.views > 0 ? [["Views", count(total.views)]] : []),
    ["Sign-ups", count(base)],
    ...(sendsMail || sure > 0 ? [["Confirmed", count(sure), share(sure, base, "sign-ups")]] : []),
    ["Invited", count(invited), share(invited, base, "sign-ups")],
    ["Joined", count(joined), share(joined, invited, "invited")],
    ["Without flagged, imported and deleted entries (people who left or were erased)."],
  ];
}

/** Adds a bar of its sign-ups to the line of each figure; the first line is the heading. The longest bar ends at column 80. */
function addBars(lines: string[], figures: Figure[]): string[] {
  const most = Math.max(1, ...figures.map((figure) => figure.signups));
  return lines.map((line, i) => {
    const eighths = Math.ceil((8 * Math.max(0, 78 - line.length) * (figures[i - 1]?.signups ?? 0)) / most);
    return `${line}  ${"█".repeat(eighths / 8)}${" ▏▎▍▌▋▊▉".charAt(eighths % 8)}`.trimEnd();
  });
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
