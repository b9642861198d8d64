// npm run test:ops: the operator's commands on large lists, a backup that is restored, metrics in a real Prometheus, and notices. A line for each step, a table
// at the end, exit code 1 where something does not hold. -- WORD runs only the steps with the word in their name.
import { inspect } from "node:util";
import { backupSteps } from "./backup.ts";
import { largeListSteps } from "./large-list.ts";
import { checkMetrics } from "./metrics.ts";
import { checkNotices } from "./notices.ts";

export interface Step {
  /** What is done, in a few words. */
  name: string;
  /** @returns what was seen, for the table; throws where it is not as promised. */
  run: () => Promise<string>;
}

if (process.platform !== "linux") throw new Error("These tests read a process' memory from /proc, as Linux has it.");

const began = performance.now();
const say = (text: string) =>
  process.stderr.write(`${String(Math.round((performance.now() - began) / 1000)).padStart(4)} s  ${text}\n`);

const metrics: Step = { name: "metrics, alerts and dashboard", run: () => checkMetrics((text) => say(`    ${text}`)) };
const notices: Step = { name: "notices", run: () => checkNotices((text) => say(`    ${text}`)) };
const all = [...largeListSteps, ...backupSteps, metrics, notices];

const rows: string[] = [];
for (const { name, run } of all.filter((step) => step.name.includes(process.argv[2] ?? ""))) {
  say(name);
  try {
    const seen = await run();
    rows.push(`| ${name} | ${seen} |`);
    say(`    held: ${seen}`);
  } catch (error) {
    process.exitCode = 1;
    rows.push(`| ${name} | BROKEN |`);
    say(`    BROKEN: ${inspect(error).slice(0, 4_000)}`);
  }
}
process.stdout.write(`\n| What is done | What was seen |\n| --- | --- |\n${rows.join("\n")}\n`);
