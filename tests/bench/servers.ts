// The servers that the benchmark compares, and the load on them.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import type { DatabaseSettings } from "../../server/database/settings.ts";
import { projectRoot } from "../../server/project-root.ts";
import { cpuSecondsOf, findProgram, urlsOf, type Site } from "../support/run.ts";
import { startSite } from "../support/site.ts";

const run = promisify(execFile);

/** Starts the site with the command of npm start and the environment of the image; its log goes to a file in `folder`. */
export function startMeasuredSite(folder: string, database: DatabaseSettings): Promise<Site> {
  return startSite({
    log: join(folder, "site.log"),
    env: {
      NODE_ENV: "production",
      MALLOC_ARENA_MAX: "1",
      ...urlsOf(database),
      SIGNUP_LIMIT: "1000000",
      SIGNUP_HOURLY_CEILING: "0",
    },
  });
}

const bareServer = `
  const [headers, body] = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"));
  const bytes = Buffer.from(body, "base64");
  require("node:http").createServer((req, res) => res.writeHead(200, headers).end(bytes))
    .listen(process.env.PORT, "127.0.0.1");
`;

/** Starts Node's own server, which sends the bytes and headers of the site's landing page and does nothing else. */
export async function startBareServer(folder: string, site: Site): Promise<Site> {
  const sent = get(site.url, { headers: { "Accept-Encoding": "br" } });
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const added = /^(date|connection|keep-alive)$/i; // Node adds these by itself.
  const headers = response.rawHeaders.filter((_, i, all) => !added.test(all[i - (i % 2)] as string));
  const file = join(folder, "response.json");
  writeFileSync(file, JSON.stringify([headers, (await buffer(response)).toString("base64")]));
  return startSite({ command: [process.execPath, "-e", bareServer, file], log: "/dev/null" });
}

/**
 * Loads the server with wrk: each of 64 connections sends its next request after the response to the one before.
 * @throws if a response is no success.
 */
async function load(site: Site, seconds: number, ...options: string[]): Promise<{ requests: number; seconds: number }> {
  const args = ["-t1", "-c64", `-d${seconds}`, ...options, site.url];
  const { stdout } = await run(findProgram("wrk"), args);
  const [, requests, duration] = /(\d+) requests in ([\d.]+)s/.exec(stdout) ?? [];
  if (!requests || /errors|Non-2xx/.test(stdout)) throw new Error(`A request failed: ${stdout}`);
  return { requests: Number(requests), seconds: Number(duration) };
}

/** Requests for the page per second of the server's processor time, so that a slow load generator does not count. */
export async function pageRate(site: Site, seconds: number): Promise<number> {
  const before = cpuSecondsOf(site.process.pid);
  const { requests } = await load(site, seconds, "-H", "Accept-Encoding: br");
  return requests / (cpuSecondsOf(site.process.pid) - before);
}

/** Sign-ups per second. */
export async function signupRate(site: Site, seconds: number): Promise<number> {
  const sent = await load(site, seconds, "-s", join(projectRoot, "tests/bench/signups.lua"));
  return sent.requests / sent.seconds;
}

const insert = String.raw`\set r random(1, 1000000000000000)
INSERT INTO earlyaccess (id, name, email, company, job_title)
VALUES (gen_random_uuid(), 'Ada Lovelace', 'ada' || :r || '@example.com', 'Analytical Engines', 'Engineer')
ON CONFLICT DO NOTHING;
`;

/** INSERTs per second over 10 connections, as many as the site has at most. */
export async function pgbenchRate(folder: string, { webUrl }: DatabaseSettings, seconds: number): Promise<number> {
  const file = join(folder, "insert.sql");
  writeFileSync(file, insert);
  const { stdout } = await run(findProgram("pgbench"), ["-n", "-c", "10", "-T", `${seconds}`, "-f", file, webUrl]);
  return Number(/tps = ([\d.]+)/.exec(stdout)?.[1]);
}
