// The log: JSON lines on stdout, or readable ones where a person watches.
import { pino, type Logger } from "pino";
import pretty from "pino-pretty";
import type { LogLevel } from "./config.ts";

export function createLogger(level: LogLevel): Logger {
  const options = { level, base: null };
  return process.stdout.isTTY ? pino(options, pretty({ sync: true, translateTime: "HH:MM:ss" })) : pino(options);
}
