// The built server as a process of its own, started as an operator starts it.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scripts } from "../../package.json";
import type { DatabaseSettings } from "../../server/database/settings.ts";
import { freePort } from "../../server/database/embedded/embedded.ts";
import { projectRoot } from "../../server/project-root.ts";
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

const builtServer = join(projectRoot, "dist/server/index.js");
/** The command of npm start, with its options for V8. */
const built: [string, ...string[]] = [process.execPath, ...scripts.start.split(" ").slice(1, -1), builtServer];

/** The settings of a given database. */
export const urlsOf = ({ webUrl, ownerUrl }: DatabaseSettings) => ({
  DATABASE_URL: webUrl,
  DATABASE_OWNER_URL: ownerUrl,
});

/** Resolves when the site listens, or after its first response if its log goes to a file. @throws with its output if it ends before. */
export async function startSite(options: Options = {}): Promise<Site> {
  const port = options.log ? await freePort() : 0;
  const site = runSite({ ...options, env: { PORT: `${port}`, ...options.env } });
  if (options.log) return { ...site, url: await whileRunning(site, () => respond(`http://127.0.0.1:${port}`)) };
  return { ...site, url: await printedUrl(site, /"port":(\d+)|Site {4}http:\/\/[^:]+:(\d+)/) };
}

/** Waits for a database connection: on a busy machine the first one can take longer than a sign-up waits for it. */
export async function ready({ url }: Pick<Site, "url">): Promise<void> {
  await until("the site is ready", async () => (await fetch(`${url}/readyz`)).ok, 50);
}

export const ada = { name: "Ada", email: "ada@example.com", company: "Engines" };

/** Signs up as JSON. The site has 20 s for its response. */
export const postSignup = ({ url }: Pick<Site, "url">, entry: object, headers = {}): Promise<Response> =>
  fetch(`${url}/api/earlyaccess`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(entry),
    signal: AbortSignal.timeout(20_000),
  });

/** Resolves with the status after the whole response. */
export async function signUp(site: Pick<Site, "url">, entry: object = ada, headers = {}): Promise<number> {
  const response = await postSignup(site, entry, headers);
  await response.arrayBuffer();
  return response.status;
}

/** `npm run studio` on a free port. */
export async function startStudio(env: Record<string, string>, ...options: string[]): Promise<Site> {
  const port = await freePort();
  // Unlike the command tsx, node ends with the exit code of the file also if the file reacts late to a signal.
  const tsx = [process.execPath, "--import", import.meta.resolve("tsx")] as const;
  const file = join(projectRoot, "server/commands/studio.ts");
  const studio = runSite({ env, command: [...tsx, file, "--port", `${port}`, ...options] });
  return { ...studio, url: await printedUrl(studio, /http:\/\/localhost:(\d+)/) };
}

/** Resolves with the URL of the port that the first group of the pattern with a match contains. */
const printedUrl = (site: Site, pattern: RegExp) =>
  whileRunning(site, () => {
    const port = pattern.exec(site.stdout())?.slice(1).find(Boolean);
    return port && `http://localhost:${port}`;
  });

/** Returns the URL after a response. */
const respond = async (url: string) => (await fetch(url, { method: "HEAD" }).catch(() => undefined)) && url;

function whileRunning(site: Site, findUrl: () => string | undefined | Promise<string | undefined>): Promise<string> {
  const check = () => {
    const { exitCode, signalCode } = site.process;
    if (exitCode !== null || signalCode) throw new Error(`The process ended: ${site.stdout()}${site.stderr()}`);
    return findUrl();
  };
  return until("the site listens", check, 60, 2) as Promise<string>;
}

/** The built worker. */
export function runWorker(env: Record<string, string>): Site {
  return runSite({ env, command: [process.execPath, join(projectRoot, "dist/server/worker.js")] });
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
