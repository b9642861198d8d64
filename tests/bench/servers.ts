// The servers that the benchmark compares, and the load on them.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import type { DatabaseSettings } from "../../server/config/database-urls.ts";
import { insertSignUps } from "../../server/models/waitlist.ts";
import { projectRoot } from "../../server/config/project-root.ts";
import { findProgram, type Site } from "../support/run.ts";
import { startSite } from "../support/site.ts";

const run = promisify(execFile);

/** Starts the site with the command of npm start and the environment of the image; its log goes to a file in `folder`. */
export function startMeasuredSite(folder: string, database: DatabaseSettings): Promise<Site> {
  return startSite({
    log: join(folder, "site.log"),
    env: {
      NODE_ENV: "production",
      MALLOC_ARENA_MAX: "1",
      NODE_OPTIONS: "--max-old-space-size=120",
      DATABASE_URL: database.webUrl,
      SIGNUP_LIMIT: "1000000",
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
 * Loads the server with wrk: each client sends its next request after the response to the previous one.
 * @throws if a response is no success.
 */
async function load(site: Site, clients: number, seconds: number, ...options: string[]) {
  const args = ["-t1", "--timeout", "10s", `-c${clients}`, `-d${seconds}`, ...options, site.url];
  const { stdout } = await run(findProgram("wrk"), args);
  const [, requests, duration] = /(\d+) requests in ([\d.]+)s/.exec(stdout) ?? [];
  if (!requests || /errors|Non-2xx/.test(stdout)) throw new Error(`A request failed: ${stdout}`);
  return { requests: Number(requests), seconds: Number(duration) };
}

/** Requests for the page per second. One thread of the load generator asks for more than one process of Node can send. */
export async function pageRate(site: Site, seconds: number): Promise<number> {
  const sent = await load(site, 64, seconds, "-H", "Accept-Encoding: br");
  return sent.requests / sent.seconds;
}

/** Sign-ups per second. */
export async function signupRate(site: Site, clients: number, seconds: number): Promise<number> {
  const sent = await load(site, clients, seconds, "-s", join(projectRoot, "tests/bench/signups.lua"));
  return sent.requests / sent.seconds;
}

const entry = `json_build_array(json_build_object('id', gen_random_uuid(), 'name', 'Ada Lovelace',
  'email', 'ada' || :r || '@example.com', 'company', 'Analytical Engines', 'job_title', 'Engineer',
  'suspected_spam', false))`;

/** Sign-ups per second that pgbench stores with the site's own statement, one entry in each. */
export async function pgbenchRate(folder: string, { webUrl }: DatabaseSettings, clients: number, seconds: number) {
  const file = join(folder, "insert.sql");
  const statement = insertSignUps([]).text.replace("$1", "'60'").replace("$2::json", entry);
  writeFileSync(file, `\\set r random(1, 1000000000000000)\n${statement};\n`);
  const args = ["-n", "-c", `${clients}`, "-T", `${seconds}`, "-f", file, webUrl];
  const { stdout } = await run(findProgram("pgbench"), args);
  return Number(/tps = ([\d.]+)/.exec(stdout)?.[1]);
}
