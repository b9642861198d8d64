// The Command type of the waitlist command, and the command line and help of each.
import { parseArgs } from "node:util";
import { printable, printableName } from "../../operator-messages.ts";
import { UsageError } from "../command.ts";

interface Option {
  /** The name of the option's value in the help. An option without it is a switch. */
  value?: string;
  description: string;
}

export interface Arguments {
  positionals: string[];
  /** Returns the value of an option, or undefined if the option is absent. */
  value: (option: string) => string | undefined;
  /** Returns whether a switch is present. */
  has: (option: string) => boolean;
}

export interface Command {
  /** One line for the list of commands. */
  summary: string;
  /** The text below the usage line; lines of at most 120 characters. */
  details: string;
  /** Names in capitals; optional ones in square brackets. A last one that ends with "…" takes all further arguments. */
  positionals: string[];
  options: Record<string, Option>;
  run: (args: Arguments) => Promise<void>;
}

const help: Option = { description: "show this help" };

/** Returns undefined if the arguments ask for help. @throws UsageError */
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
    if (missing) throw new UsageError(`${name} needs ${missing.replace("…", "")}. ${hint}`);
    const excess = positionals[command.positionals.length];
    const takesAll = command.positionals.at(-1)?.endsWith("…");
    if (excess !== undefined && !takesAll)
      throw new UsageError(`${name} does not take "${printableName(excess)}". ${hint}`);
    const has = (option: string) => values[option] === true;
    return { positionals, has, value: (option) => values[option] as string | undefined };
  } catch (error) {
    if (!String((error as NodeJS.ErrnoException).code).startsWith("ERR_PARSE_ARGS")) throw error;
    // Node's other sentences explain how to pass a value that looks like an option.
    const [sentence] = (error as Error).message.split(/\.\s/);
    throw new UsageError(`${printable(sentence as string).replace(/\.$/, "")}. ${hint}`);
  }
}

/** @throws UsageError unless the value is a whole number from 1 to 999,999,999. */
export function readCount(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`--${option} is "${printableName(text)}" but must be a whole number from 1, for example 100.`);
}

/** @throws UsageError unless the value is a key of `choices`. */
export function readChoice<T>(option: string, name: string, choices: Record<string, T>): T {
  if (Object.hasOwn(choices, name)) return choices[name] as T;
  const known = new Intl.ListFormat("en", { type: "disjunction" }).format(Object.keys(choices));
  throw new UsageError(`--${option} is "${printableName(name)}" but must be ${known}.`);
}

export function describeCommand(name: string, { summary, details, positionals, options }: Command): string {
  const rows = Object.entries({ ...options, help }).map(([option, { value, description }]: [string, Option]) => [
    `--${option}${value ? ` ${value}` : ""}`,
    description,
  ]);
  const usage = ["waitlist", name, "[OPTIONS]", ...positionals].join(" ");
  return `${summary}\n\nUsage: ${usage}\n\n${details}\n\nOptions:\n${alignColumns(rows)}\n`;
}

export function describeCommands(commands: Record<string, Command>): string {
  const rows = Object.entries(commands).map(([name, { summary }]) => [name, summary]);
  return [
    "Manages the waitlist, over the connection of DATABASE_OWNER_URL.",
    "",
    "In the project:  npm run --silent waitlist -- COMMAND …",
    "In the image:    node dist/server/waitlist.js COMMAND …",
    "",
    `Commands:\n${alignColumns(rows)}`,
    "",
    "For details, run waitlist COMMAND --help. Exit codes: 0 done, 1 failed, 2 invalid command line.",
    "",
  ].join("\n");
}

function alignColumns(rows: string[][]): string {
  const width = Math.max(...rows.map(([first = ""]) => first.length));
  return rows.map(([first = "", second = ""]) => `  ${first.padEnd(width)}  ${second}`).join("\n");
}
