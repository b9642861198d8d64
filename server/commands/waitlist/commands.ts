// The command line of the waitlist: its commands, their help, and what is wrong with the arguments.
import { Command, CommanderError } from "commander";
import { printable, printableName } from "../../operator-messages.ts";
import { UsageError } from "../command.ts";
import { doctor } from "./doctor.ts";
import { erase } from "./erase.ts";
import { exportCommand } from "./export.ts";
import { importCommand } from "./import.ts";
import { invite } from "./invite.ts";
import { purge } from "./purge.ts";
import { show } from "./show.ts";
import { stats } from "./stats.ts";
import { unflag } from "./unflag.ts";

const overview = `Manages the waitlist, over the connection of DATABASE_OWNER_URL.

In the project:  npm run --silent waitlist -- COMMAND …
In the image:    node dist/server/waitlist.js COMMAND …

For details, run waitlist COMMAND --help. Exit codes: 0 done, 1 failed, 2 invalid command line.
`;

const program = new Command("waitlist")
  .usage("COMMAND")
  .addHelpText("before", overview)
  .helpOption("-h, --help", "show this help")
  .helpCommand(false)
  .configureHelp({
    subcommandTerm: (command) => command.name(),
    commandDescription: (command) => [command.summary(), command.description()].filter(Boolean).join("\n\n"),
  })
  .configureOutput({ outputError: () => undefined })
  .showSuggestionAfterError(false)
  .exitOverride();
export const commands = [exportCommand, importCommand, invite, stats, unflag, erase, purge, show, doctor];
for (const command of commands) program.addCommand(command.copyInheritedSettings(program));

/** @param args the words after `waitlist`. */
export async function runCommandLine(args: string[]): Promise<void> {
  if (args.length === 0) throw new UsageError(`${overview}\n${program.helpInformation().trimEnd()}`);
  try {
    await program.parseAsync(args[0] === "help" ? ["--help"] : args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw new UsageError(describe(error, args[0]));
  }
}

function describe({ code, message }: CommanderError, name = ""): string {
  const command = commands.find((known) => known.name() === name);
  const hint = `See: waitlist ${command ? `${name} ` : ""}--help`;
  if (code === "commander.unknownCommand") {
    const known = commands.map((one) => one.name()).join(", ");
    return `There is no command "${printableName(name)}". The commands are ${known}; see: waitlist --help`;
  }
  if (code === "commander.missingArgument") return `${name} needs ${/'(.*)'/.exec(message)?.[1]}. ${hint}`;
  if (command && code === "commander.excessArguments") {
    const excess = command.args[command.registeredArguments.length] ?? "";
    return `${name} does not take "${printableName(excess)}". ${hint}`;
  }
  const sentence = message.replace(/^error: ./, (start) => start.slice(-1).toUpperCase());
  return `${printable(sentence)}. ${hint}`;
}
