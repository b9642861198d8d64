// The log: JSON lines on stdout, or readable ones where a person watches. A log that cannot be written never ends the site.
import { writeSync } from "node:fs";
import { pino, type DestinationStream, type Logger } from "pino";
import pretty from "pino-pretty";
import type { LogLevel } from "./config-variables.ts";

const stdout = 1;
/** What is kept of a log that cannot be written now, in characters; newer lines are lost. Some seconds of the heaviest load. */
const backlogLimit = 4_000_000;
/** Milliseconds until it is tried again. */
const retryAfter = 10;

export function createLogger(level: LogLevel): Logger {
  const options = { level, base: null };
  return process.stdout.isTTY
    ? pino(options, pretty({ sync: true, translateTime: "HH:MM:ss" }))
    : pino(options, together());
}

/**
 * Writes what is logged in one turn of the event loop at once: in a crowd one call of the system for many lines.
 * A pipe that is full or closed and a disk without space are tried again; pino's own destination would throw, or stop the site.
 */
function together(): DestinationStream {
  let lines = "";
  /** What of the lines before is not yet written. */
  let unwritten = Buffer.alloc(0);
  let scheduled = false;

  function flush() {
    scheduled = false;
    if (unwritten.length === 0) takeLines();
    try {
      while (unwritten.length > 0) {
        unwritten = unwritten.subarray(writeSync(stdout, unwritten));
        if (unwritten.length === 0) takeLines();
      }
    } catch {
      scheduled = true;
      setTimeout(flush, retryAfter).unref();
    }
  }
  function takeLines() {
    unwritten = Buffer.from(lines);
    lines = "";
  }
  process.on("exit", flush);
  return {
    write(line) {
      if (lines.length < backlogLimit) lines += line;
      if (scheduled) return;
      scheduled = true;
      setImmediate(flush);
    },
  };
}
