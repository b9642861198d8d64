// waitlist stats: sign-ups by status, day and source, as tables in the terminal or as an HTML report.
import { writeFile } from "node:fs/promises";
import { printable, printableName } from "../../../operator-messages.ts";
import { print } from "../../print.ts";
import type { Command } from "../command.ts";
import { countSignups, type Figure, type Figures } from "./figures.ts";
import { periodOptions, readPeriod } from "../moment.ts";
import { withOwner } from "../owner.ts";
import { writePrivately } from "../private-file.ts";
import { count } from "../progress.ts";
import { renderReport } from "./report.tsx";

export const stats: Command = {
  summary: "counts the sign-ups by status, by day and by source",
  details: [
    "A source is utm_source, else the site that linked to the page, else direct. Days are in UTC; days without sign-ups",
    "are omitted. Flagged entries (suspected spam, a disposable address, unusual volume) count only with --with-flagged.",
    "Once the site sent a confirmation mail, the tables also show how many of the sign-ups were confirmed.",
    "The page of --html runs no script and sends no request.",
  ].join("\n"),
  positionals: [],
  options: {
    html: { value: "FILE", description: "write an HTML page with charts instead; - is stdout" },
    "with-flagged": { description: "include flagged entries, and show their number" },
    ...periodOptions,
  },
  run: async ({ value, has }) => {
    const period = readPeriod(value);
    const file = value("html");
    await withOwner(async (client) => {
      const figures = await countSignups(client, period, has("with-flagged"));
      if (file === undefined) return print(drawFigures(figures));
      const page = renderReport(figures, new Date());
      if (file === "-") return print(page);
      await writePrivately(file, (draft) => writeFile(draft, page));
      print(`Wrote ${printable(file)}.\n`);
    });
  },
};

const barWidth = 40;

/** Returns tables with bars, for a terminal. */
function drawFigures({ withFlagged, withConfirmed, total, byStatus, byDay, bySource }: Figures): string {
  const counted = [
    "signups",
    ...(withConfirmed ? ["confirmed"] : []),
    ...(withFlagged ? ["flagged"] : []),
  ] as Counted[];
  const draw = (heading: string, figures: Figure[]) => drawTable(heading, figures, counted);
  const tables = [draw("Status", [total, ...byStatus]), draw("Day", byDay), draw("Source", bySource)];
  if (total.flagged > 0 && !withFlagged)
    tables.push(`Not counted: ${count(total.flagged)} flagged; see --with-flagged.`);
  return `${tables.join("\n\n")}\n`;
}

type Counted = Exclude<keyof Figure, "label">;

function drawTable(heading: string, figures: Figure[], counted: Counted[]): string {
  const most = Math.max(1, ...figures.map(({ signups }) => signups));
  const rows = figures.map((figure) => [
    printableName(figure.label),
    ...counted.map((key) => count(figure[key])),
    "█".repeat(Math.ceil((figure.signups / most) * barWidth)),
  ]);
  const all = [[heading, ...counted.map((key) => (key === "signups" ? "sign-ups" : key)), ""], ...rows];
  const widths = all[0]?.map((_, i) => Math.max(...all.map((row) => Array.from(row[i] as string).length))) ?? [];
  const pad = (text: string, i: number) => " ".repeat((widths[i] as number) - Array.from(text).length);
  const align = (cell: string, i: number) => (i === 0 ? cell + pad(cell, i) : pad(cell, i) + cell);
  return all.map((cells) => [...cells.slice(0, -1).map(align), cells.at(-1)].join("  ").trimEnd()).join("\n");
}
