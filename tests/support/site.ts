// The built server as a process of its own, started as an operator starts it.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { projectRoot } from "../../server/project-root.ts";
import { freePort } from "./free-port.ts";
import { keepLog } from "./sent.ts";
import { until } from "./until.ts";

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
  /** Elsewhere than in the project, so that nobody's .env changes a test. */
  cwd?: string;
  command?: [string, ...string[]];
  /** A file for the log, which this process then does not read. */
  log?: string;
}

export const builtServer = join(projectRoot, "dist/server/index.js");
const built: [string, ...string[]] = [process.execPath, builtServer];

/** Resolves when the site listens, or after its first response if its log goes to a file. @throws with its output if it ends before. */
export async function startSite(options: Options = {}): Promise<Site> {
  const port = options.log ? await freePort() : 0;
  const site = runSite({ ...options, env: { PORT: `${port}`, ...options.env } });
  const findUrl = async () => {
    const { exitCode, signalCode } = site.process;
    if (exitCode !== null || signalCode) throw new Error(`The site ended: ${site.stdout()}${site.stderr()}`);
    if (options.log) return respond(`http://127.0.0.1:${port}`);
    const [, json, text] = /"port":(\d+)|Site {4}http:\/\/[^:]+:(\d+)/.exec(site.stdout()) ?? [];
    return (json ?? text) && `http://localhost:${json ?? text}`;
  };
  return { ...site, url: (await until("the site listens", findUrl, 60, 2)) as string };
}

const respond = (url: string) =>
  fetch(url)
    .then((response) => response.arrayBuffer())
    .then(
      () => url,
      () => undefined,
    );

/** The built notification worker. */
export function runSender(env: Record<string, string>): Site {
  return runSite({ env, command: [process.execPath, join(projectRoot, "dist/server/notify.js")] });
}

export function runSite({ env = {}, cwd = tmpdir(), command = built, log }: Options = {}): Site {
  const [file, ...args] = command;
  const child = spawn(file, args, {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: "0", ...env },
    stdio: ["ignore", log ? openSync(log, "a") : "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  // What commands print is for their caller.
  if (command === built) child.once("close", () => keepLog(stdout + stderr));
  const exited = once(child, "exit").then(([code]) => code as number | null);
  return {
    url: "",
    process: child,
    stdout: () => stdout,
    stderr: () => stderr,
    stop: async (signal = "SIGTERM") => {
      child.kill(signal);
      return exited;
    },
  };
}
