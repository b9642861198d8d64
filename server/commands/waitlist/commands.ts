// The command line of the waitlist: its commands, and what is wrong with the arguments.
import { Command, CommanderError } from "commander";
import { printableLines } from "../../errors.ts";
import { bounced } from "./bounced.ts";
import { doctor } from "./doctor.ts";
import { erase } from "./erase.ts";
import { exportCommand } from "./export.ts";
import { importCommand } from "./import.ts";
import { invite } from "./invite.ts";
import { joined } from "./joined.ts";
import { mail } from "./mail.ts";
import { purge } from "./purge.ts";
import { retry } from "./retry.ts";
import { show } from "./show.ts";
import { stats } from "./stats.ts";

const program = new Command("waitlist")
  .description(
    "Manages the waitlist, over the connection of DATABASE_OWNER_URL. Exit codes: 0 done; 1 failed, or found none of the " +
      "names, addresses or lines given; 2 invalid command line.",
  )
  .configureHelp({
    commandDescription: (command) => [command.summary(), command.description()].filter(Boolean).join("\n\n"),
  })
  .configureOutput({ outputError: (message, write) => write(printableLines(message)) })
  .showHelpAfterError("See --help.")
  .exitOverride();
export const commands = [
  exportCommand,
  importCommand,
  invite,
  joined,
  mail,
  bounced,
  stats,
  retry,
  erase,
  purge,
  show,
  doctor,
];
for (const command of commands) {
  program.addCommand(command.copyInheritedSettings(program));
  for (const subcommand of command.commands) subcommand.copyInheritedSettings(command);
}

export async function runCommandLine(args: string[]): Promise<void> {
  try {
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) process.exitCode = 2;
  }
}
