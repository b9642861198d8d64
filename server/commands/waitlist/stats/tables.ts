// The tables of stats: days, sources and statuses, for the terminal and the HTML page.
import { printable, printableName } from "../../../operator-messages.ts";
import { count } from "../progress.ts";
import { sumFigures, type Figure, type Figures } from "./figures.ts";

/** Without --all. */
export const shownDays = 14;

export interface Table {
  /** The first one heads the labels of the rows. */
  headings: string[];
  rows: { label: string; cells: string[] }[];
}

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

/** Returns the tables of days, sources and statuses, without columns that have no figure. */
export function toTables({ total, byDay, bySource, byStatus }: Figures, all: boolean): Table[] {
  if (byDay.length === 0) return [];
  const ofEntries = total.confirmed > 0 ? [signups, confirmed] : [signups];
  const columns = total.views > 0 ? [views, ...ofEntries, rate] : ofEntries;
  return [
    toTable("Day", [...(all ? byDay : joinEarlier(byDay)), total], columns),
    toTable("Source", bySource, columns),
    toTable("Status", byStatus, ofEntries),
  ];
}

function toTable(heading: string, figures: Figure[], columns: Column[]): Table {
  return {
    headings: [heading, ...columns.map((column) => column.heading)],
    rows: figures.map((figure) => ({ label: figure.label, cells: columns.map(({ cell }) => cell(figure)) })),
  };
}

function joinEarlier(byDay: Figure[]): Figure[] {
  const earlier = byDay.slice(shownDays);
  if (earlier.length < 2) return byDay;
  return [...byDay.slice(0, shownDays), sumFigures(`${count(earlier.length)} earlier days`, earlier)];
}

/** At most 80 columns wide, unless --all shows whole labels. */
export function formatTables(tables: Table[], { flagged }: Figures, all: boolean): string {
  const note = flagged > 0 ? [`Not counted: ${count(flagged)} flagged; see --with-flagged.`] : [];
  if (tables.length === 0) return `${["No views and no sign-ups.", ...note].join("\n")}\n`;
  const format = all ? printableName : (label: string) => shorten(printable(label), 30);
  const texts = tables.map(({ headings, rows }) => [
    headings,
    ...rows.map(({ label, cells }) => [format(label), ...cells]),
  ]);
  const labels = Math.max(...texts.flat().map(([label]) => lengthOf(label)));
  return `${[...texts.map((rows) => align(rows, labels)), ...note].join("\n\n")}\n`;
}

const lengthOf = (text = "") => Array.from(text).length;

function shorten(label: string, longest: number): string {
  return lengthOf(label) > longest
    ? `${Array.from(label)
        .slice(0, longest - 1)
        .join("")}…`
    : label;
}

/** The labels to the left, the figures to the right. */
function align(rows: string[][], labels: number): string {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(i === 0 ? labels : 0, ...rows.map((row) => lengthOf(row[i]))));
  const pad = (text: string, i: number) => " ".repeat((widths[i] as number) - lengthOf(text));
  const line = (cells: string[]) => cells.map((cell, i) => (i === 0 ? cell + pad(cell, i) : pad(cell, i) + cell));
  return rows.map((cells) => line(cells).join("  ")).join("\n");
}
