// Runs long scenarios one after the other: progress on stderr, a table on stdout, exit code 1 if a check fails.
import { inspect } from "node:util";

export interface Scenario {
  /** What happens, in a few words. */
  name: string;
  /** Returns what was measured, in a few words for the table. @throws if a check fails. */
  run: () => Promise<string>;
}

/** Prints a Markdown table whose first row is its heading. */
export function printTable([heading = [], ...rows]: string[][]): void {
  const all = [heading, heading.map(() => "---"), ...rows];
  const widths = heading.map((_, i) => Math.max(...all.map((row) => row[i]?.length ?? 0)));
  const format = (row: string[]) =>
    `| ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0, cell === "---" ? "-" : " ")).join(" | ")} |`;
  process.stdout.write(`\n${all.map(format).join("\n")}\n\n`);
}

export async function runScenarios(chosen: Scenario[]): Promise<void> {
  if (chosen.length === 0) throw new Error("No scenario has this word in its name.");
  const rows = [["Scenario", "Result", "Duration"]];
  for (const { name, run } of chosen) {
    process.stderr.write(`${name}\n`);
    const began = performance.now();
    const result = await run().catch((error: unknown) => {
      process.exitCode = 1;
      process.stderr.write(`${inspect(error).slice(0, 4_000)}\n`);
      return "FAILED";
    });
    const duration = `${((performance.now() - began) / 1000).toFixed()} s`;
    process.stderr.write(`    ${result} (${duration})\n`);
    rows.push([name, result, duration]);
  }
  printTable(rows);
}
