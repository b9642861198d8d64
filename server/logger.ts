// The logger: JSON lines on stdout. Failed writes never stop the site.
import { pino, type LevelWithSilent, type Logger } from "pino";
import { version } from "../package.json";

/** Bytes of log kept while stdout accepts no data; newer lines are dropped. They hold some seconds of the heaviest load. */
const backlogLimit = 4_000_000;

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
