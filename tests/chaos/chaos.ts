// npm run test:chaos: causes real faults and floods, and checks that the site withstands them.
// npm run test:chaos -- WORD runs only the scenarios with the word in their name.
import { runScenarios } from "../support/scenarios.ts";
import { withStack, type StackScenarios } from "../support/stack.ts";
import { expensiveRequests } from "./expensive-requests.ts";
import { faults } from "./faults.ts";
import { floods } from "./floods.ts";
import { fullDisk } from "./full-disk.ts";
import { heavyClients } from "./heavy-clients.ts";
import { kills } from "./kills.ts";
import { logFaults } from "./log-faults.ts";
import { machine } from "./machine.ts";
import { mailFaults } from "./mail-faults.ts";
import { replicas } from "./replicas.ts";
import { signupFloods } from "./signup-floods.ts";
import { slowClients } from "./slow-clients.ts";

if (process.platform !== "linux") throw new Error("The chaos tests need Linux: they stop processes and read /proc.");

const scenarios: StackScenarios = {
  ...faults,
  ...fullDisk,
  ...kills,
  ...machine,
  ...replicas,
  ...slowClients,
  ...heavyClients,
  ...expensiveRequests,
  ...floods,
  ...signupFloods,
  ...logFaults,
  ...mailFaults,
};
await runScenarios(Object.entries(scenarios).map(([name, run]) => ({ name, run: (say) => withStack(say, run) })));
