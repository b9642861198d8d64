// Every waitlist command by its name, and the choice of one by the command line.
import { printableName } from "../../operator-messages.ts";
import { print, UsageError } from "../command.ts";
import { describeCommand, describeCommands, readArguments, type Command } from "./arguments.ts";
import { doctor } from "./doctor.ts";
import { erase } from "./erase.ts";
import { exportCommand } from "./export.ts";
import { importCommand } from "./import.ts";
import { invite } from "./invite.ts";
import { purge } from "./purge.ts";
import { show } from "./show.ts";
import { stats } from "./stats.ts";
import { unflag } from "./unflag.ts";

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

/** @param args the words after `waitlist`. @throws UsageError */
export async function runCommandLine([name, ...args]: string[]): Promise<void> {
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
}
