// npm run waitlist -- COMMAND …: the operator commands of the waitlist; in the image node dist/server/waitlist.js COMMAND ….
import { printableName } from "../operator-messages.ts";
import { conclude, print, UsageError } from "./command.ts";
import { describeCommand, describeCommands, readArguments, type Command } from "./waitlist/arguments.ts";
import { doctor } from "./waitlist/doctor.ts";
import { erase } from "./waitlist/erase.ts";
import { exportCommand } from "./waitlist/export.ts";
import { importCommand } from "./waitlist/import.ts";
import { invite } from "./waitlist/invite.ts";
import { purge } from "./waitlist/purge.ts";
import { show } from "./waitlist/show.ts";
import { stats } from "./waitlist/stats.ts";
import { unflag } from "./waitlist/unflag.ts";

const commands: Record<string, Command> = {
  export: exportCommand,
  import: importCommand,
  invite,
  stats,
  unflag,
  erase,
  purge,
  show,
  doctor,
};

await conclude(async () => {
  const [name, ...args] = process.argv.slice(2);
  if (name === undefined) throw new UsageError(describeCommands(commands).trimEnd());
  if (name === "--help" || name === "-h" || name === "help") {
    print(describeCommands(commands));
    return;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) {
    const known = Object.keys(commands).join(", ");
    throw new UsageError(
      `There is no command "${printableName(name)}". The commands are ${known}; see: waitlist --help`,
    );
  }
  const parsed = readArguments(name, command, args);
  if (parsed) await command.run(parsed);
  else print(describeCommand(name, command));
});
