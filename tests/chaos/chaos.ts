// npm run test:chaos: causes for real what should break the site, and sees that it does not. A line for each scenario,
// a table at the end, exit code 1 where a promise was broken. -- WORD runs only those with the word in their name.
import { inspect } from "node:util";
import { faults } from "./faults.ts";
import { floods } from "./floods.ts";
import { fullDisk } from "./full-disk.ts";
import { fuzz } from "./fuzz.ts";
import { heavyClients } from "./heavy-clients.ts";
import { kills } from "./kills.ts";
import { logFaults } from "./log-faults.ts";
import { machine } from "./machine.ts";
import { replicas } from "./replicas.ts";
import type { Scenario } from "./scenario.ts";
import { slowClients } from "./slow-clients.ts";
import { openStand } from "./stand.ts";

if (process.platform !== "linux") throw new Error("The chaos tests stop processes and read /proc as Linux has it.");

const all: Scenario[] = [
  ...faults,
  ...fullDisk,
  ...kills,
  ...machine,
  ...replicas,
  ...fuzz,
  ...slowClients,
  ...heavyClients,
  ...floods,
  ...logFaults,
];
const wanted = process.argv[2] ?? "";
const scenarios = all.filter(({ name }) => name.includes(wanted));

const began = performance.now();
const seconds = () => Math.round((performance.now() - began) / 1000);
const say = (text: string) => process.stderr.write(`${String(seconds()).padStart(4)} s  ${text}\n`);

const describe = (error: unknown) => inspect(error).slice(0, 4_000);

const rows: string[] = [];
for (const { name, run } of scenarios) {
  say(name);
  const started = seconds();
  const stand = await openStand((text) => say(`    ${text}`));
  try {
    const seen = await run(stand);
    await stand.close();
    rows.push(`| ${name} | ${seen} | ${seconds() - started} s |`);
    say(`    held: ${seen}`);
  } catch (error) {
    process.exitCode = 1;
    rows.push(`| ${name} | BROKEN | ${seconds() - started} s |`);
    say(`    BROKEN: ${describe(error)}`);
    await stand.close().catch(() => undefined);
  }
}
process.stdout.write(`\n| What happens | What was seen | Took |\n| --- | --- | --- |\n${rows.join("\n")}\n`);
