// The columns of stats' tables, in the terminal and in the report.
import { count } from "../progress.ts";
import type { Figure, Figures } from "./figures.ts";
import type { Recent } from "./recent.ts";
import { formatInterval, formatRate, wilson, type Rate } from "./rate.ts";

export interface Column<Row> {
  heading: string;
  cell: (row: Row) => string;
}

type Shown = Pick<Figures, "withViews" | "withConfirmed" | "withFlagged">;

const rateOf = ({ converted, views }: Figure): Rate | undefined => wilson(converted, views);

const views: Column<Figure> = { heading: "Views", cell: (row) => count(row.views) };
const signups: Column<Figure> = { heading: "Sign-ups", cell: (row) => count(row.signups) };
const confirmed: Column<Figure> = { heading: "Confirmed", cell: (row) => count(row.confirmed) };
const invited: Column<Figure> = { heading: "Invited", cell: (row) => count(row.invited) };
const flagged: Column<Figure> = { heading: "Flagged", cell: (row) => count(row.flagged) };
const rates: Column<Figure>[] = [
  { heading: "Rate", cell: (row) => formatRate(rateOf(row)) },
  { heading: "95 % CI", cell: (row) => formatInterval(rateOf(row)) },
];

/** Returns the columns of a table of days or sources. */
export function figureColumns({ withViews, withConfirmed, withFlagged }: Shown): Column<Figure>[] {
  return [
    ...(withViews ? [views] : []),
    signups,
    ...(withConfirmed ? [confirmed] : []),
    ...(withFlagged ? [flagged] : []),
    invited,
    ...(withViews ? rates : []),
  ];
}

/** Returns the columns of the table of recent periods. */
export function recentColumns({ withViews }: Shown): Column<Recent>[] {
  return [
    ...(withViews ? [views, { heading: "Growth", cell: ({ growth }: Recent) => growth.views }] : []),
    signups,
    { heading: "Growth", cell: ({ growth }) => growth.signups },
    ...(withViews ? rates : []),
  ];
}

/** Cuts a label that has more characters. */
export function shorten(label: string, longest: number): string {
  const characters = Array.from(label);
  return characters.length > longest ? `${characters.slice(0, longest - 1).join("")}…` : label;
}
