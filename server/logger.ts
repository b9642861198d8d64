// The log: JSON lines on stdout, or readable ones where a person watches.
import { pino, type DestinationStream, type Logger } from "pino";
import pretty from "pino-pretty";
import type { LogLevel } from "./config.ts";

export function createLogger(level: LogLevel): Logger {
  const options = { level, base: null };
  return process.stdout.isTTY
    ? pino(options, pretty({ sync: true, translateTime: "HH:MM:ss" }))
    : pino(options, together(pino.destination({ sync: true })));
}

/** Writes what is logged in one turn of the event loop at once: in a crowd one call of the system for many lines. */
function together(destination: DestinationStream): DestinationStream {
  let lines = "";
  function flush() {
    if (lines !== "") destination.write(lines);
    lines = "";
  }
  process.on("exit", flush);
  return {
    write(line) {
      if (lines === "") setImmediate(flush);
      lines += line;
    },
  };
}
