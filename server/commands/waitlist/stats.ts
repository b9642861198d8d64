// waitlist stats: how many signed up, when and from where; in the terminal, or as a page to pass on.
import { writeFile } from "node:fs/promises";
import { printable, printableName } from "../../printable.ts";
import { print } from "../print.ts";
import type { Command } from "./command.ts";
import { countSignups, type Figure, type Figures } from "./figures.ts";
import { periodOptions, readPeriod } from "./moment.ts";
import { withOwner } from "./owner.ts";
import { writePrivately } from "./private-file.ts";
import { count } from "./progress.ts";
import { renderReport } from "./report.tsx";

export const stats: Command = {
  summary: "counts the sign-ups by status, by day and by source",
  details: [
    "A source is utm_source, otherwise the site that linked to the page, otherwise direct. Days are in UTC, and those",
    "without sign-ups are left out. Flagged are suspected spam and disposable addresses. The page that --html writes",
    "holds everything that it shows, runs no script and asks no other host.",
  ].join("\n"),
  positionals: [],
  options: { html: { value: "FILE", description: "writes a page with charts instead" }, ...periodOptions },
  run: async ({ value }) => {
    const period = readPeriod(value);
    const file = value("html");
    await withOwner(async (client) => {
      const figures = await countSignups(client, period);
      if (file !== undefined) {
        await writePrivately(file, (draft) => writeFile(draft, renderReport(figures, new Date())));
        print(`Wrote ${printable(file)}.\n`);
      } else print(drawFigures(figures));
    });
  },
};

const barWidth = 40;

/** Tables with bars, for a terminal. */
function drawFigures({ total, byStatus, byDay, bySource }: Figures): string {
  const tables = [drawTable("Status", [total, ...byStatus]), drawTable("Day", byDay), drawTable("Source", bySource)];
  return `${tables.join("\n\n")}\n`;
}

function drawTable(heading: string, figures: Figure[]): string {
  const most = Math.max(1, ...figures.map(({ signups }) => signups));
  const rows = figures.map(({ label, signups, flagged }) => [
    printableName(label),
    count(signups),
    count(flagged),
    "█".repeat(Math.ceil((signups / most) * barWidth)),
  ]);
  const all = [[heading, "sign-ups", "flagged", ""], ...rows];
  const widths = [0, 1, 2].map((i) => Math.max(...all.map((row) => Array.from(row[i] as string).length)));
  const pad = (text: string, i: number) => " ".repeat((widths[i] as number) - Array.from(text).length);
  return all
    .map(([label = "", signups = "", flagged = "", bar = ""]) =>
      `${label}${pad(label, 0)}  ${pad(signups, 1)}${signups}  ${pad(flagged, 2)}${flagged}  ${bar}`.trimEnd(),
    )
    .join("\n");
}
