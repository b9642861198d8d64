// npm run test:chaos: causes for real what should break the site, and sees that it does not. A line for each scenario,
// a table at the end, exit code 1 where a promise was broken. -- WORD runs only those with the word in their name.
import { runSteps, type Say } from "../support/steps.ts";
import { expensiveRequests } from "./expensive-requests.ts";
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
import { signupFloods } from "./signup-floods.ts";
import { openStand } from "./stand.ts";
import { stops } from "./stops.ts";

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
  ...expensiveRequests,
  ...floods,
  ...signupFloods,
  ...stops,
  ...logFaults,
];
async function onStand(run: Scenario["run"], say: Say): Promise<string> {
  const stand = await openStand(say);
  try {
    const seen = await run(stand);
    await stand.close();
    return seen;
  } catch (error) {
    await stand.close().catch(() => undefined);
    throw error;
  }
}

await runSteps(
  "What happens",
  all.map(({ name, run }) => ({ name, run: (say) => onStand(run, say) })),
);
