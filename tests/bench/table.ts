// The benchmark's table, and which of its rows break a budget.

import type { Sample } from "./statistics.ts";

export interface Row {
  what: string;
  ours: string;
  /** What it is compared with, and that one's figure. */
  reference?: string;
  ratio?: Sample;
  budget?: { text: string; holds: boolean };
}

const headings = ["", "ours", "compared with", "ratio", "spread", "budget"];

export function printTable(rows: Row[]): void {
  const lines = rows.map(({ what, ours, reference = "", ratio, budget }) => [
    what,
    ours,
    reference,
    ratio ? ratio.median.toFixed(2) : "",
    ratio ? percent(ratio.spread) : "",
    budget ? `${budget.text} ${budget.holds ? "ok" : "BROKEN"}` : "",
  ]);
  const all = [headings, headings.map(() => "---"), ...lines];
  const widths = headings.map((_, i) => Math.max(...all.map((cells) => (cells[i] as string).length)));
  const format = (cells: string[]) =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i] as number, cell === "---" ? "-" : " ")).join(" | ")} |`;
  process.stdout.write(`\n${all.map(format).join("\n")}\n\n`);
}

export const isBroken = ({ budget }: Row) => budget?.holds === false;

export const percent = (share: number) => `±${Math.round(share * 100)} %`;
