// The built programs as processes, started as an operator starts them: their output, their end, their memory and processor time.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, openSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { scripts } from "../../package.json";
import type { DatabaseSettings } from "../../server/config/database-urls.ts";
import { projectRoot } from "../../server/config/project-root.ts";

export interface Site {
  url: string;
  process: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Sends the signal and resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface Options {
  env?: Record<string, string>;
  /** A folder outside of the project, so that no .env changes a test. */
  cwd?: string;
  command?: [string, ...string[]];
  /** A file for the log, which this process then does not read. */
  log?: string;
}

const builtServer = join(projectRoot, "dist/server/index.js");
/** The command of npm start, with its options for V8. */
const built: [string, ...string[]] = [process.execPath, ...(scripts.start.match(/--\S+=\S+/g) ?? []), builtServer];

/** The settings of a given database. */
export const urlsOf = ({ webUrl, ownerUrl }: DatabaseSettings) => ({
  DATABASE_URL: webUrl,
  DATABASE_OWNER_URL: ownerUrl,
});

/** The outputs so far of the sites and workers that tests started. */
export const outputs = new Set<() => string>();

export function runSite({ env = {}, cwd = tmpdir(), command = built, log }: Options = {}): Site {
  // The program ends with this process, also if that is killed.
  const bound = process.platform === "linux" ? ["setpriv", "--pdeathsig", "TERM"] : [];
  const [file = "", ...args] = [...bound, ...command];
  const child = spawn(file, args, {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: "0", ...env },
    stdio: ["ignore", log ? openSync(log, "a") : "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  outputs.add(() => stdout);
  const exited = once(child, "exit").then(([code]) => code as number | null);
  return {
    url: "",
    process: child,
    stdout: () => stdout,
    stderr: () => stderr,
    stop: async (signal = "SIGTERM") => {
      child.kill(signal);
      return within(`the end of ${command.join(" ")} after ${signal}`, exited);
    },
  };
}

/** The built worker. */
export function runWorker(env: Record<string, string>): Site {
  return runSite({ env, command: [process.execPath, join(projectRoot, "dist/server/worker.js")] });
}

export type Run = Awaited<ReturnType<typeof run>>;

/**
 * Measures the peak memory in MB (10⁶ bytes); 0 without /proc.
 * @param discard sends stdout to /dev/null, so that this process does not read it.
 * @param longest the seconds after which it throws.
 */
export async function run(
  command: [string, ...string[]],
  env: Record<string, string>,
  { discard = false, longest = 100 } = {},
) {
  const began = performance.now();
  const child = runSite({ command, env, ...(discard && { log: "/dev/null" }) });
  let peakMegabytes = 0;
  // The kernel's peak is gone when the process is.
  const sample = () => (peakMegabytes = Math.max(peakMegabytes, memoryOf(child.process.pid, "VmHWM") || 0));
  const sampling = setInterval(sample, 20);
  const closed = once(child.process, "close") as Promise<[number | null]>;
  const [code] = await within(`the end of ${command.join(" ")}`, closed, longest).finally(() => {
    clearInterval(sampling);
    child.process.kill("SIGKILL");
  });
  const seconds = (performance.now() - began) / 1000;
  return { code, stdout: child.stdout(), stderr: child.stderr(), seconds, peakMegabytes };
}

/** Returns the current (VmRSS) or peak (VmHWM) memory in MB (10⁶ bytes), or NaN if the process has ended. */
export function memoryOf(pid: number | undefined, field: "VmRSS" | "VmHWM"): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return (Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) * 1024) / 1e6;
  } catch {
    return NaN;
  }
}

/** Debian keeps the programs of Postgres out of PATH. */
const postgresFolder = "/usr/lib/postgresql";

/** Returns the path of the first installed program; a program of Postgres is that of the newest version. @throws if there is none. */
export function findProgram(...names: string[]): string {
  // The newest may have only the programs of a client.
  const versions = existsSync(postgresFolder) ? readdirSync(postgresFolder).toSorted().toReversed() : [];
  const binaries = versions.map((version) => join(postgresFolder, version, "bin"));
  const folders = [...binaries, ...(process.env.PATH ?? "").split(":")];
  const path = folders.flatMap((folder) => names.map((name) => join(folder, name))).find((file) => existsSync(file));
  if (!path) throw new Error(`This needs ${names.join(" or ")}.`);
  return path;
}

export const builtWaitlist = join(projectRoot, "dist/server/waitlist.js");

/** Runs the built command. @param program another bundle. */
export async function runBuiltWaitlist(
  database: DatabaseSettings,
  args: string[],
  env: Record<string, string> = {},
  program = builtWaitlist,
): Promise<Pick<Run, "code" | "stdout" | "stderr">> {
  const { code, stdout, stderr } = await run([process.execPath, program, ...args], { ...urlsOf(database), ...env });
  return { code, stdout, stderr };
}

/** Calls `check` until it returns a truthy value, and returns that value. @throws after `seconds`, which a busy machine needs. */
export async function until<T>(
  condition: string,
  check: () => T | Promise<T>,
  seconds = 40,
  intervalMs = 40,
): Promise<T> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const value = await check();
    if (value) return value;
    if (performance.now() > deadline) throw new Error(`After ${seconds} s, this does not hold: ${condition}.`);
    await sleep(intervalMs);
  }
}

/** Returns the value of the promise. @throws after `seconds`, which a busy machine needs, with what did not come. */
export async function within<T>(event: string, promise: Promise<T>, seconds = 40): Promise<T> {
  const timer = new AbortController();
  const limit = sleep(seconds * 1000, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`After ${seconds} s, this did not come: ${event}.`);
  });
  limit.catch(() => undefined); // It is aborted once the promise has settled.
  return Promise.race([promise, limit]).finally(() => timer.abort());
}
