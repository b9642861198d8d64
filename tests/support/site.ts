// The built site and Studio as processes: their start, and sign-ups.
import { join } from "node:path";
import { freePort } from "../../server/database/embedded/free-port.ts";
import { projectRoot } from "../../server/config/project-root.ts";
import { runSite, until, type Options, type Site } from "./run.ts";

/** Resolves when the site listens, or after its first response if its log goes to a file. @throws with its output if it ends before. */
export async function startSite(options: Options = {}): Promise<Site> {
  const port = options.log ? await freePort() : 0;
  const site = runSite({ ...options, env: { PORT: `${port}`, ...options.env } });
  const url = `http://127.0.0.1:${port}`;
  const respond = async () => (await fetch(url, { method: "HEAD" }).catch(() => undefined)) && url;
  if (options.log) return { ...site, url: await whileRunning(site, respond) };
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
  // Unlike the command tsx, node ends with the exit code of the file even if the file reacts late to a signal.
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

function whileRunning(site: Site, findUrl: () => string | undefined | Promise<string | undefined>): Promise<string> {
  const check = () => {
    const { exitCode, signalCode } = site.process;
    if (exitCode !== null || signalCode) throw new Error(`The process ended: ${site.stdout()}${site.stderr()}`);
    return findUrl();
  };
  return until("the site listens", check, 60, 2).catch((error: unknown) => {
    site.process.kill("SIGKILL"); // Nobody else has the process, which would keep this one alive.
    throw error;
  }) as Promise<string>;
}
