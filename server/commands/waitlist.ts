// npm run waitlist -- COMMAND …: the operator commands of the waitlist; in the image node dist/server/waitlist.js COMMAND ….
import { conclude } from "./command.ts";
import { runCommandLine } from "./waitlist/commands.ts";

await conclude(() => runCommandLine(process.argv.slice(2)));
