// The frame of every command: its database, its numbers, its output, its errors and its exit code.
import { createWriteStream, fstatSync } from "node:fs";
import { InvalidArgumentError } from "commander";
import type pg from "pg";
import type { Config } from "../config/settings.ts";
import { withConnection } from "../database/connect.ts";
import { withDatabase, type OpenedDatabase } from "../database/open-database.ts";
import { errorFields, fail, migrateHint, OperatorError, printable, printableLines } from "../errors.ts";

export async function runCommand(...command: Parameters<typeof withDatabase>): Promise<void> {
  await conclude(() => withDatabase(...command));
}

/** Does the work and sets the exit code, which is 1 after an error, also of the output. The process then ends by itself. */
export async function conclude(work: () => Promise<void>): Promise<void> {
  // Node's own stream for a file ignores that an almost full disk takes only a part of a write.
  if (fstatSync(1).isFile()) Object.defineProperty(process, "stdout", { value: createWriteStream("", { fd: 1 }) });
  let reported: Error | undefined;
  // The reader closed the pipe, as `head` does, or the disk is full. The work continues: otherwise an import would be incomplete.
  const report = (error: Error) => {
    process.exitCode = 1;
    const { code } = errorFields(error);
    if (!reported && code !== "EPIPE") process.stderr.write(`The output cannot be written: ${code}\n`);
    reported ??= error;
  };
  for (const stream of [process.stdout, process.stderr]) stream.on("error", report);
  await work().catch((error: unknown) => {
    if (error !== reported) fail(error);
  });
  process.stdin.destroy(); // Node would wait for the end of a pipe that the command does not read to its end.
}

/**
 * Connects to the configured database as its owner, and disconnects after the work. A signal closes the connection, so that the
 * command cleans up and ends.
 * @throws OperatorError if Postgres is unreachable, a table or right is missing, or a signal arrived.
 */
export async function withOwner(
  work: (client: pg.Client, database: OpenedDatabase, config: Config) => Promise<void>,
): Promise<void> {
  await withDatabase("DATABASE_OWNER_URL", async (database, config) => {
    await withConnection(database.ownerUrl, async (client) => {
      let signal: NodeJS.Signals | undefined;
      const interrupt = (name: NodeJS.Signals) => {
        signal = name;
        void client.end();
      };
      process.once("SIGINT", interrupt).once("SIGTERM", interrupt);
      try {
        // Commands print times in UTC, whatever the server's time zone is.
        await client.query("SET timezone = 'UTC'");
        await work(client, database, config);
      } catch (error) {
        if (!signal) throw toOperatorError(error);
        // The message of the command, such as the outcome of an import, is still true.
        const more = error instanceof OperatorError ? ` ${error.message}` : "";
        throw new OperatorError(`Ended by ${signal}.${more}`);
      } finally {
        process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
      }
    });
  });
}

function toOperatorError(error: unknown): unknown {
  const { code } = errorFields(error);
  // undefined_table, undefined_column, undefined_function, invalid_schema_name
  if (/^(?:42P01|42703|42883|3F000)$/.test(code ?? "")) {
    return new OperatorError(`The database is not up to date. ${migrateHint}`);
  }
  if (code === "42501") {
    const hint = "Set DATABASE_OWNER_URL to the owner's connection, or grant the owner this right";
    return new OperatorError(`${printable((error as Error).message)}. ${hint}: docs/postgres.md, Roles.`);
  }
  return error;
}

/** Keeps line breaks, and replaces every other control character by "?". */
export function print(text: string): void {
  process.stdout.write(printableLines(text));
}

/** Returns a parser of an option, for commander. */
export function readWholeNumber(least: number, most: number) {
  return (text: string) => {
    if (/^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text);
    throw new InvalidArgumentError(`Name a whole number from ${least} to ${formatCount(most)}, for example 2000.`);
  };
}

/** For mails and webhooks that were given up or are missing. */
export const retryHint = "When the cause is gone, try again with: waitlist retry";

export const lateHint = "A job is due for more than an hour: the worker's log says why";

export const formatCount = (number: number) => number.toLocaleString("en");

export const countEntries = (number: number) => `${formatCount(number)} ${number === 1 ? "entry" : "entries"}`;

export const countPeople = (number: number) => `${formatCount(number)} ${number === 1 ? "person" : "people"}`;
