// Processes of the benchmark: servers whose CPU time and memory are read from /proc, and load from outside of them.
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { projectRoot } from "../../server/project-root.ts";
import { freePort } from "../support/free-port.ts";
import { memoryOf } from "../support/memory.ts";

const run = promisify(execFile);

export interface Server {
  url: string;
  /** From the start of the process to its first answer, in milliseconds. */
  startMs: number;
  /** User and system time so far, in seconds. */
  cpuSeconds(): number;
  /** The most memory that it ever held, in MB (10⁶ bytes). */
  peakMegabytes(): number;
  stop(): Promise<void>;
}

/** Killed when the benchmark ends, also where it fails. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill();
});

/** @param args of this Node; the server listens on PORT. */
export async function startServer(
  args: string[],
  env: Record<string, string> = {},
  log = "/dev/null",
): Promise<Server> {
  const port = await freePort();
  const started = performance.now();
  const child = spawn(process.execPath, args, {
    cwd: projectRoot,
    env: { PATH: process.env.PATH, NODE_ENV: "production", PORT: String(port), ...env },
    stdio: ["ignore", openSync(log, "a"), "inherit"],
  });
  running.add(child);
  const url = `http://127.0.0.1:${port}`;
  await firstAnswer(url, child);
  return {
    url,
    startMs: performance.now() - started,
    cpuSeconds: () => {
      const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(" ");
      return (Number(fields[13]) + Number(fields[14])) / 100; // Linux counts in hundredths.
    },
    peakMegabytes: () => memoryOf(child.pid, "VmHWM"),
    stop: async () => {
      running.delete(child);
      child.kill("SIGTERM");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}

async function firstAnswer(url: string, child: ChildProcess): Promise<void> {
  for (;;) {
    const answer = await fetch(url).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer) return;
    if (child.exitCode !== null) throw new Error(`A server of the benchmark ended with ${child.exitCode}.`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

export interface Load {
  requests: number;
  seconds: number;
}

const wrk = findProgram("wrk");
export const generator = wrk ? "wrk" : "a loop of ours";

/**
 * Closed-loop load from a process of its own: each of 64 connections sends its next request when the last one is answered.
 * @param kind what is sent: GET to the address, or sign-ups by new visitors to the site at it.
 * @param status what every answer must be: a success, or none.
 * @throws where one is not.
 */
export async function load(
  url: string,
  status: number,
  seconds: number,
  kind: "pages" | "signups" = "pages",
): Promise<Load> {
  const [file, ...args] = wrk
    ? [wrk, "-t1", "-c64", `-d${seconds}`, "-s", script("load.lua"), url, "--", kind]
    : [process.execPath, "--import", "tsx", script("load.ts"), url, String(seconds), kind];
  const { stdout } = await run(file, args);
  const { errors, refused, ...sent } = JSON.parse(stdout.slice(stdout.indexOf("{"))) as Load & {
    errors: number;
    /** Answers with 300 or more. */
    refused: number;
  };
  if (errors > 0 || refused !== (status < 300 ? 0 : sent.requests)) {
    throw new Error(`${url}: of ${sent.requests} answers ${refused} were no success, with ${errors} errors`);
  }
  return sent;
}

const script = (name: string) => join(projectRoot, "tests/bench", name);

/** Sign-ups by new addresses, in a second. */
export async function signupRate(url: string, seconds: number): Promise<number> {
  const sent = await load(url, 201, seconds, "signups");
  return sent.requests / sent.seconds;
}

/** The path of a program, where it is installed; Debian keeps those of Postgres out of PATH. */
export function findProgram(name: string): string | undefined {
  const folders = (process.env.PATH ?? "").split(":");
  const debian = "/usr/lib/postgresql";
  if (existsSync(debian)) folders.push(...readdirSync(debian).map((version) => join(debian, version, "bin")));
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** As many connections as the site has to Postgres at most. */
export async function pgbenchRate(
  pgbench: string,
  databaseUrl: string,
  statements: string,
  seconds: number,
): Promise<number> {
  const options = ["-n", "-c", "10", "-T", String(Math.ceil(seconds)), "-f", statements, databaseUrl];
  const { stdout } = await run(pgbench, options);
  return Number(/tps = ([\d.]+)/.exec(stdout)?.[1]);
}
