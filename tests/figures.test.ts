// Numbers of configuration files, and of several modules, that must fit each other.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { engines, scripts } from "../package.json";
import { timeout as formTimeout } from "../client/early-access/join.ts";
import { daysWithoutMail } from "../client/shared/promised-times.ts";
import { daysUntilLate } from "../server/commands/waitlist/doctor.ts";
import { longestBody } from "../server/middleware/body.ts";
import { statementsAlone } from "../server/models/batch.ts";
import { poolSize, timeLimits } from "../server/config/time-limits.ts";
import { projectRoot } from "../server/config/project-root.ts";
import { defaultRoundMs } from "../server/worker/worker.ts";
import { oldestBrowsers } from "../vite.config.ts";

const read = (file: string) => readFileSync(join(projectRoot, file), "utf8");

/** Returns the first group of the only match. */
function find(text: string, pattern: RegExp): string {
  const found = new Set(Array.from(text.matchAll(new RegExp(pattern, "gm")), ([, group = ""]) => group));
  expect([pattern, [...found]]).toEqual([pattern, [expect.stringMatching(/./)]]);
  return [...found][0] as string;
}

const { headers, request, slowRequestCheck, inactivity, lock, floor, probe, statement } = timeLimits;
const { change, keepAlive, keepAliveOfStop, grace } = timeLimits;

const units: Record<string, number> = { ms: 1, s: 1_000 };
const caddy = (key: string) => {
  const [digits = "", unit = ""] = find(read("deploy/Caddyfile.https"), new RegExp(`\\t${key} (\\d+m?s)$`)).split(
    /(?=m?s)/,
  );
  return Number(digits) * (units[unit] ?? NaN);
};

const { services } = parse(read("docker-compose.yml"), { merge: true }) as { services: Record<string, unknown> };
/** Returns the number in a service of docker-compose.yml. */
const compose = (name: string, pattern: RegExp) => Number(find(JSON.stringify(services[name]), pattern));
const memory = () => compose("site", /"mem_limit":"(\d+)m"/);
const stop = () => compose("worker", /"stop_grace_period":"(\d+)s"/) * 1_000;
const minutesUntilUnhealthy = () => compose("backup", /find .* -mmin -(\d+)/);

const heap = () => Number(find(read("Dockerfile"), /--max-old-space-size=(\d+)/));
const young = () => 3 * Number(find(scripts.start, /--max-semi-space-size=(\d+)/));
const backupDue = () => Number(find(read("deploy/backup.sh"), /-mmin -(\d+) /));
const backupKept = () => Number(find(read("deploy/backup.sh"), /-mmin \+(\d+)\)/));

it.each<[what: string, rising: () => number[]]>([
  [
    "the worker's health check waits longer than a round and its pause",
    () => [3 * defaultRoundMs, compose("worker", /find .* -mmin -(\d+)/) * 60_000],
  ],
  ["the worker's jobs in progress end before Compose kills it", () => [defaultRoundMs, stop()]],
  [
    "the site's requests and page views end before Compose kills it",
    () => [keepAliveOfStop + grace + statement, stop()],
  ],
  ["the heap fits the promised 200 MB, and those the container", () => [heap() + young(), 200, memory()]],
  [
    "the floor hides the wait for a lock, /readyz answers before a statement ends, and that ends before its change",
    () => [lock, floor, probe, statement - 50, statement, change, 5_000],
  ],
  [
    "a sign-up ends before Caddy gives up, before the connection is closed and before the form gives up",
    () => [change, caddy("response_header_timeout"), inactivity, formTimeout],
  ],
  [
    "Caddy holds requests for several attempts, and no longer than the form waits",
    () => [5 * caddy("dial_timeout"), caddy("lb_try_duration"), formTimeout + 1],
  ],
  ["Caddy closes idle connections before a site that stops", () => [caddy("keepalive"), keepAliveOfStop]],
  ["other proxies close idle connections before the site", () => [120_000, keepAlive]],
  [
    "headers and the longest body at 2 KB/s arrive before the site closes the connection, within the promised 20 s",
    () => [longestBody / 2, headers, request, request + slowRequestCheck, 20_000],
  ],
  ["a daily backup is due before it is missed", () => [backupDue(), minutesUntilUnhealthy()]],
])("%s", (_, figures) => {
  const rising = figures();
  expect(rising).toEqual([...new Set(rising)].toSorted((a, b) => a - b));
});

const { jobs } = parse(read(".github/workflows/ci.yml")) as {
  jobs: {
    test: { steps: { with?: Record<string, unknown> }[] };
    versions: { strategy: { matrix: { node: unknown[] } } };
  };
};
const [oldest, older] = jobs.versions.strategy.matrix.node;

it.each<[what: string, pair: () => [one: unknown, other: unknown]]>([
  [
    "the days without mail after leaving, in documents",
    () => [
      [
        find(read("docs/mail.md"), /gets none for (\d+) days/),
        find(read("docs/promises.md"), /none for (\d+) days after/),
      ],
      Array(2).fill(String(daysWithoutMail)),
    ],
  ],
  [
    "the two days of backup.sh, doctor and the health check",
    () => [[backupKept(), daysUntilLate * 1_440], Array(2).fill(minutesUntilUnhealthy())],
  ],
  [
    "sign-ups and links each run a batch, and changes that go alone, on a connection each",
    () => [poolSize, 2 * (1 + statementsAlone)],
  ],
  [
    "hosted CI runs the oldest versions that package.json supports",
    () => [`^${String(oldest)} || ^${String(older)}`, engines.node.split(" || >=")[0]],
  ],
  [
    "the versions of Node in the image, hosted CI and .nvmrc",
    () => [
      [find(read("Dockerfile"), /node:(\d+)-slim/), jobs.test.steps.find((step) => step.with?.["node-version"])?.with],
      [read(".nvmrc").trim(), { "node-version": Number(read(".nvmrc")) }],
    ],
  ],
  [
    ".ci/run tests the oldest Chrome of the build",
    () => [oldestBrowsers[0], `chrome${find(read(".ci/run"), /@sparticuz\/chromium@(\d+)\./)}`],
  ],
])("%s: equal", (_, pair) => {
  const [one, other] = pair();
  expect(one).toEqual(other);
});
