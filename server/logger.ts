// The logger: JSON lines on stdout, and what may be logged of a database error. Failed writes never stop the site.
import { pino, type LevelWithSilent, type Logger } from "pino";
import { version } from "../package.json";

/** In bytes, kept while stdout accepts no data; newer lines are dropped. Enough for some seconds of the heaviest load. */
const backlogLimit = 4_000_000;

/** Logs JSON lines to stdout, the first with the version. Create one for each process. */
export function createLogger(level: LevelWithSilent): Logger {
  const destination = pino.destination({ sync: false, maxLength: backlogLimit });
  let isFailing = false;
  destination.on("error", () => (isFailing = true));
  destination.on("write", () => (isFailing = false));
  // Pino writes the last lines at the exit, and would try for ever if the disk is full.
  process.prependListener("exit", () => isFailing && destination.destroy());
  const log = pino({ level, base: null }, destination);
  log.info({ version }, "starting");
  return log;
}

/** Returns whether the text has an "@", also encoded several times. */
export const mayHoldEmail = (text: string) => /@|%(?:25)*40/i.test(text);

interface ErrorFields {
  name: string;
  /** Postgres' own code; otherwise the code of the driver or the system. */
  code?: string | undefined;
}

/** Errors of node-postgres that have no code. */
const codesByMessage: [RegExp, string][] = [
  [/^timeout (expired|exceeded)/, "CONNECT_TIMEOUT"],
  [/^Query read timeout/, "QUERY_TIMEOUT"],
  [/^Connection terminated/, "CONNECTION_LOST"],
];

/** Returns the fields of a database error that may be logged: not its message, in which drivers quote values of the statement. */
export function errorFields(error: unknown): ErrorFields {
  const { name, code, message, meta } = error as {
    name: string;
    code?: string;
    message?: string;
    meta?: { driverAdapterError?: { cause?: { originalCode?: string; kind?: string } } };
  };
  // Prisma's own code says only that a raw query failed (P2010).
  const cause = meta?.driverAdapterError?.cause;
  const known = codesByMessage.find(([pattern]) => pattern.test(message ?? ""))?.[1];
  return { name, code: cause?.originalCode ?? cause?.kind ?? code ?? known };
}
