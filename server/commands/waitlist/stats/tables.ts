// The tables of stats for a terminal of 80 columns.
import { printable, printableName } from "../../../operator-messages.ts";
import { count } from "../progress.ts";
import { figureColumns, recentColumns, shorten, type Column } from "./columns.ts";
import { sumFigures, type Figure, type Figures } from "./figures.ts";
import type { Recent } from "./recent.ts";

const daysOnScreen = 7;
/** Beside one row for all others. */
export const sourcesOnScreen = 5;

/** @param all shows every day, whole labels and the status; otherwise the tables fit on one screen. */
export function drawFigures(figures: Figures, recent: Recent[], all: boolean): string {
  const { withFlagged, total, byStatus, byDay, bySource } = figures;
  if (byDay.length === 0) return `No ${figures.withViews ? "views and no " : ""}sign-ups.\n`;
  // The figures of --with-flagged take five columns more.
  const format = all ? printableName : (text: string) => shorten(printable(text), withFlagged ? 17 : 22);
  const days = [...(all ? byDay : joinEarlier(byDay)), total];
  const main = [
    toCells("Day", days, figureColumns(figures), format),
    toCells("Source", bySource, figureColumns(figures), format),
  ];
  const widths = widthsOf(main.flat());
  const top = toCells("".padEnd(widths[0] ?? 0), recent, recentColumns(figures), format);
  const tables = [
    ...(recent.length > 0 ? [align(top, widthsOf(top))] : []),
    ...main.map((cells) => align(cells, widths)),
  ];
  const notes = [
    ...(all ? [`Status: ${byStatus.map(({ label, signups }) => `${count(signups)} ${label}`).join(", ")}.`] : []),
    ...(total.flagged > 0 && !withFlagged ? [`Not counted: ${count(total.flagged)} flagged; see --with-flagged.`] : []),
  ];
  return `${[...tables, ...(notes.length > 0 ? [notes.join("\n")] : [])].join("\n\n")}\n`;
}

function joinEarlier(byDay: Figure[]): Figure[] {
  const earlier = byDay.slice(daysOnScreen);
  if (earlier.length < 2) return byDay;
  return [...byDay.slice(0, daysOnScreen), sumFigures(`${count(earlier.length)} earlier days`, earlier)];
}

function toCells<Row extends { label: string }>(
  heading: string,
  rows: Row[],
  columns: Column<Row>[],
  format: (label: string) => string,
): string[][] {
  return [
    [heading, ...columns.map((column) => column.heading)],
    ...rows.map((row) => [format(row.label), ...columns.map(({ cell }) => cell(row))]),
  ];
}

const lengthOf = (text = "") => Array.from(text).length;

function widthsOf(rows: string[][]): number[] {
  return rows[0]?.map((_, i) => Math.max(...rows.map((cells) => lengthOf(cells[i])))) ?? [];
}

/** The labels to the left, the figures to the right. */
function align(rows: string[][], widths: number[]): string {
  const pad = (text: string, i: number) => " ".repeat((widths[i] as number) - lengthOf(text));
  const line = (cells: string[]) => cells.map((cell, i) => (i === 0 ? cell + pad(cell, i) : pad(cell, i) + cell));
  return rows.map((cells) => line(cells).join("  ")).join("\n");
}
