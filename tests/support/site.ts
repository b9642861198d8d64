// The built server as a process of its own, started as an operator starts it.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { projectRoot } from "../../server/project-root.ts";
import { keepLog } from "./sent.ts";

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
}

const built: [string, ...string[]] = [process.execPath, join(projectRoot, "dist/server/index.js")];

/** Resolves when the site listens, or rejects with its stderr when it ends before that. */
export async function startSite({ env = {}, cwd = tmpdir(), command = built }: Options = {}): Promise<Site> {
  const site = runSite({ env, cwd, command });
  const port = await new Promise<string>((resolve, reject) => {
    const look = () => {
      const match = /"port":(\d+)|Site {4}http:\/\/[^:]+:(\d+)/.exec(site.stdout());
      if (match) resolve((match[1] ?? match[2]) as string);
    };
    site.process.stdout?.on("data", look);
    site.process.once("exit", () => reject(new Error(`The site ended: ${site.stdout()}${site.stderr()}`)));
  });
  return { ...site, url: `http://localhost:${port}` };
}

/** The built sender of notices. */
export function runSender(env: Record<string, string>): Site {
  return runSite({ env, command: [process.execPath, join(projectRoot, "dist/server/notify.js")] });
}

export function runSite({ env = {}, cwd = tmpdir(), command = built }: Options = {}): Site {
  const [file, ...args] = command;
  const child = spawn(file, args, { cwd, env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: "0", ...env } });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
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
