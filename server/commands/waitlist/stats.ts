// waitlist stats: the funnel, and views, sign-ups and their rate by day, source and status, as tables and bars in the terminal.
import { Command } from "commander";
import { printable } from "../../errors.ts";
import { formatCount, print, withOwner } from "../command.ts";
import { periodSql, sinceOption, untilOption, type Period } from "./moment.ts";
import { countFigures, type Figure, type Figures } from "../../models/operators/statistics.ts";

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
    `every day and up to ${formatCount(mostSources)} sources, instead of ${shownDays} days and ${shownSources} sources`,
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

const signups: Column = { heading: "Sign-ups", cell: (row) => formatCount(row.signups) };
const confirmed: Column = { heading: "Confirmed", cell: (row) => formatCount(row.confirmed) };
const views: Column = { heading: "Views", cell: (row) => formatCount(row.views) };
const rate: Column = { heading: "Rate", cell: formatRate };

/** Returns for example "4.5 %", or "–" if there are no views or fewer views than sign-ups. */
function formatRate({ converted, views: trials }: Figure): string {
  return trials === 0 || converted > trials ? "–" : percent(converted, trials);
}

const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`;

/** A line of a table: its cells, the first of which is the label, and for a bar the number that it shows. */
interface Line {
  cells: string[];
  bar?: number;
}

/** Leaves out columns that have no figure. At most 80 columns wide, unless --all shows whole labels. */
function formatTables(figures: Figures, all: boolean, sendsMail: boolean): string {
  const { total, byDay, bySource, byStatus, flagged } = figures;
  const note = flagged > 0 ? [`Not counted: ${formatCount(flagged)} flagged; see --with-flagged.`] : [];
  if (byDay.length === 0) return `${["No views and no sign-ups.", ...note].join("\n")}\n`;
  const ofEntries = total.confirmed > 0 ? [signups, confirmed] : [signups];
  const columns = total.views > 0 ? [views, ...ofEntries, rate] : ofEntries;
  const longestLabel = all ? 100 : 30;
  const toLine = (figure: Figure, shown = columns): Line => ({
    cells: [shorten(figure.label, longestLabel), ...shown.map(({ cell }) => cell(figure))],
  });
  const withBar = (figure: Figure): Line => ({ ...toLine(figure), bar: figure.signups });
  const days = all ? byDay : byDay.slice(0, shownDays);
  const tables = [
    toFunnel(figures, sendsMail),
    [toHeading("Day", columns), ...days.map(withBar), toLine(total)],
    [toHeading("Source", columns), ...bySource.map(withBar)],
    [toHeading("Status", ofEntries), ...byStatus.map((figure) => toLine(figure, ofEntries))],
  ];
  const labelWidth = widestLabel(tables.flat());
  return `${[...tables.map((lines) => drawTable(lines, labelWidth)), ...note].join("\n\n")}\n`;
}

const toHeading = (label: string, columns: Column[]): Line => ({
  cells: [label, ...columns.map((column) => column.heading)],
});

/** Leaves out views if none were counted, and confirmed entries if the site sends no mails. */
function toFunnel({ total, funnel }: Figures, sendsMail: boolean): Line[] {
  const { signups: base, confirmed: sure, invited, joined } = funnel;
  const share = (part: number, whole: number, of: string) => (whole > 0 ? `${percent(part, whole)} of the ${of}` : "");
  const rows = [
    ["Funnel"],
    ...(total.views > 0 ? [["Views", formatCount(total.views)]] : []),
    ["Sign-ups", formatCount(base)],
    ...(sendsMail || sure > 0 ? [["Confirmed", formatCount(sure), share(sure, base, "sign-ups")]] : []),
    ["Invited", formatCount(invited), share(invited, base, "sign-ups")],
    ["Joined", formatCount(joined), share(joined, invited, "invited")],
    ["Without flagged, imported and deleted entries"],
    ["(people who left, were erased or never confirmed)."],
  ];
  return rows.map((cells) => ({ cells }));
}

/** Lines without another cell are notes, which no column must fit. */
function widestLabel(lines: Line[]): number {
  return Math.max(...lines.map(({ cells: [label = "", ...others] }) => (others.length > 0 ? label.length : 0)));
}

/** Aligns the cells, and adds the bars, of which the longest ends at column 80. */
function drawTable(lines: Line[], labelWidth: number): string {
  const longest = Math.max(1, ...lines.map(({ bar = 0 }) => bar));
  const drawn = lines.map(({ cells: [label = "", ...others], bar = 0 }) => {
    const aligned = [label.padEnd(labelWidth), ...others.map((cell) => cell.padStart("Confirmed".length))].join("  ");
    const room = Math.max(0, 78 - aligned.length);
    return `${aligned}  ${"█".repeat(Math.ceil((room * bar) / longest))}`.trimEnd();
  });
  return drawn.join("\n");
}

function shorten(label: string, longest: number): string {
  const characters = Array.from(printable(label));
  return characters.length > longest ? `${characters.slice(0, longest - 1).join("")}…` : characters.join("");
}
