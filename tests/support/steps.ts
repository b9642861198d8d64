// Runs long tests one after the other: a line for each on stderr, a table at the end, exit code 1 where one is broken.
import { inspect } from "node:util";

export type Say = (text: string) => void;

export interface Step {
  /** What is done or happens, in a few words. */
  name: string;
  /** @returns what was seen, in a few words for the table; throws where it is not as promised. */
  run: (say: Say) => Promise<string>;
}

/** Runs the steps with the word of the command line in their name, or all. @param heading of the table's first column. */
export async function runSteps(heading: string, steps: Step[]): Promise<void> {
  const began = performance.now();
  const seconds = () => Math.round((performance.now() - began) / 1000);
  const say: Say = (text) => process.stderr.write(`${String(seconds()).padStart(4)} s  ${text}\n`);
  const rows: string[] = [];
  for (const { name, run } of steps.filter((step) => step.name.includes(process.argv[2] ?? ""))) {
    say(name);
    const started = seconds();
    let seen = "BROKEN";
    try {
      seen = await run((text) => say(`    ${text}`));
      say(`    held: ${seen}`);
    } catch (error) {
      process.exitCode = 1;
      say(`    BROKEN: ${inspect(error).slice(0, 4_000)}`);
    }
    rows.push(`| ${name} | ${seen} | ${seconds() - started} s |`);
  }
  process.stdout.write(`\n| ${heading} | What was seen | Took |\n| --- | --- | --- |\n${rows.join("\n")}\n`);
}
