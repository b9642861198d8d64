// The logger: JSON lines on stdout, or readable lines in a terminal. Failed writes never stop the site.
import { writeSync } from "node:fs";
import { pino, type DestinationStream, type LevelWithSilent, type Logger } from "pino";
import pretty from "pino-pretty";

const stdout = 1;
/** Characters to keep while stdout accepts no data; newer lines are dropped. Enough for some seconds of the heaviest load. */
const backlogLimit = 4_000_000;
const retryAfterMs = 10;

export function createLogger(level: LevelWithSilent): Logger {
  const options = { level, base: null };
  return process.stdout.isTTY
    ? pino(options, pretty({ sync: true, translateTime: "HH:MM:ss" }))
    : pino(options, batchedStdout());
}

/**
 * Writes the lines of one turn of the event loop in one system call. Retries if a pipe is full or closed or a disk is full;
 * pino's own destination would throw or block the site.
 */
function batchedStdout(): DestinationStream {
  let lines = "";
  /** The rest of earlier lines. */
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
      setTimeout(flush, retryAfterMs).unref();
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
