// What an operator command of the waitlist is, its command line, and its help.
import { parseArgs } from "node:util";
import { printable, printableName } from "../../printable.ts";
import { UsageError } from "../command.ts";

interface Option {
  /** Stands for the option's value in the help; without one the option is a switch. */
  value?: string;
  description: string;
}

export interface Arguments {
  positionals: string[];
  /** The value of an option, undefined where it was not given. */
  value: (option: string) => string | undefined;
  /** Whether a switch was given. */
  has: (option: string) => boolean;
}

export interface Command {
  /** One line of the list of commands. */
  summary: string;
  /** What one must know, below the summary; lines of at most 100 characters. */
  details: string;
  /** In capitals, in square brackets where it may be left out. */
  positionals: string[];
  options: Record<string, Option>;
  run: (args: Arguments) => Promise<void>;
}

const help: Option = { description: "show this help" };

/**
 * Reads the command line of one command.
 * @returns undefined where help is asked for.
 * @throws UsageError naming what is wrong with it.
 */
export function readArguments(name: string, command: Command, args: string[]): Arguments | undefined {
  const options = Object.fromEntries(
    Object.entries({ ...command.options, help }).map(([option, { value }]) => [
      option,
      { type: value ? ("string" as const) : ("boolean" as const) },
    ]),
  );
  const hint = `See: waitlist ${name} --help`;
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    if (values.help) return undefined;
    const missing = command.positionals.slice(positionals.length).find((positional) => !positional.startsWith("["));
    if (missing) throw new UsageError(`${name} needs ${missing}. ${hint}`);
    const excess = positionals[command.positionals.length];
    if (excess !== undefined)
      throw new UsageError(`${name} does not know what to do with "${printableName(excess)}". ${hint}`);
    const has = (option: string) => values[option] === true;
    return { positionals, has, value: (option) => values[option] as string | undefined };
  } catch (error) {
    if (!String((error as NodeJS.ErrnoException).code).startsWith("ERR_PARSE_ARGS")) throw error;
    // What follows the first sentence explains how to pass a value that looks like an option.
    const [sentence] = (error as Error).message.split(/\.\s/);
    throw new UsageError(`${printable(sentence as string).replace(/\.$/, "")}. ${hint}`);
  }
}

/** The help of one command. */
export function describeCommand(name: string, { summary, details, positionals, options }: Command): string {
  const rows = Object.entries({ ...options, help }).map(([option, { value, description }]: [string, Option]) => [
    `--${option}${value ? ` ${value}` : ""}`,
    description,
  ]);
  const usage = ["waitlist", name, "[OPTIONS]", ...positionals].join(" ");
  return `${summary}\n\nUsage: ${usage}\n\n${details}\n\nOptions:\n${alignColumns(rows)}\n`;
}

/** The help of all commands. */
export function describeCommands(commands: Record<string, Command>): string {
  const rows = Object.entries(commands).map(([name, { summary }]) => [name, summary]);
  return [
    "Looks after the waitlist, with the connection of DATABASE_OWNER_URL.",
    "",
    "In the project:  npm run --silent waitlist -- COMMAND …",
    "In the image:    node dist/server/waitlist.js COMMAND …",
    "",
    `Commands:\n${alignColumns(rows)}`,
    "",
    "waitlist COMMAND --help tells more. Exit codes: 0 done, 1 failed, 2 the command line is wrong.",
    "",
  ].join("\n");
}

function alignColumns(rows: string[][]): string {
  const width = Math.max(...rows.map(([first = ""]) => first.length));
  return rows.map(([first = "", second = ""]) => `  ${first.padEnd(width)}  ${second}`).join("\n");
}
