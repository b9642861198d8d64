// The measurements: each returns rows of the table.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../../server/project-root.ts";
import { budgets, weighPage } from "../support/page-weight.ts";
import type { Postgres } from "../support/postgres.ts";
import { startBareServer } from "./bare-server.ts";
import { findProgram, load, pgbenchRate, signupRate, startServer, type Server } from "./processes.ts";
import { createFilledDatabase, insertLoopRate, writePgbenchScript } from "./signups.ts";
import { ratio, summarise, takeTurns } from "./statistics.ts";
import type { Row } from "./table.ts";

interface Plan {
  rounds: number;
  /** How long each round loads each contestant. */
  seconds: number;
  starts: number;
  /** How many entries there are already, for each measurement of sign-ups. */
  rows: number[];
}

export interface Bench {
  plan: Plan;
  postgres: Postgres;
  /** For files that go when the benchmark ends. */
  folder: string;
  say: (text: string) => void;
}

const kilobytes = (bytes: number) => `${(bytes / 1024).toFixed(1)} KB`;
const thousands = (values: number[]) => summarise(values).median.toLocaleString("en", { maximumFractionDigits: 0 });

const { scripts } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")) as {
  scripts: { start: string };
};

/** As npm start does, with a log that is written to a file. */
export function startSite(
  { folder }: Pick<Bench, "folder">,
  databases: { webUrl: string; ownerUrl: string },
  changes: Record<string, string> = {},
): Promise<Server> {
  const env = {
    DATABASE_URL: databases.webUrl,
    DATABASE_OWNER_URL: databases.ownerUrl,
    SIGNUP_LIMIT: "1000000",
    SIGNUP_HOURLY_CEILING: "0",
    ...changes,
  };
  return startServer(scripts.start.split(" ").slice(1), env, join(folder, "site.log"));
}

/** Requests per second of the server's CPU time, which a load generator that is slower than the server does not change. */
async function pageRate(server: Server, path: string, status: number, seconds: number): Promise<number> {
  const before = server.cpuSeconds();
  const { requests } = await load(server.url + path, status, seconds);
  return requests / (server.cpuSeconds() - before);
}

/** @returns also how much the bare server alone varied: the noise of the machine. */
export async function measurePages(bench: Bench, site: Server): Promise<{ rows: Row[]; noise: number }> {
  const { plan, folder, say } = bench;
  const rendering = ["--import", "tsx", join(projectRoot, "tests/bench/rendering-server.ts")];
  const rendered = await startServer(rendering, {}, join(folder, "rendered.log"));
  const rows: Row[] = [];
  let noise = 0;
  for (const [path, status] of [
    ["/", 200],
    ["/nope", 404],
  ] as const) {
    const bare = await startBareServer(site.url + path, join(folder, "answer.json"));
    const measure = (server: Server) => () => pageRate(server, path, status, plan.seconds);
    for (const server of [bare, site, rendered]) await load(server.url + path, status, 1);
    const { ours, theirs, perRequest } = await takeTurns(
      plan.rounds,
      { theirs: measure(bare), ours: measure(site), perRequest: measure(rendered) },
      (round, name) => say(`GET ${path}, round ${round} of ${plan.rounds}: ${name}`),
    );
    await bare.stop();
    noise = Math.max(noise, summarise(theirs).spread);
    const share = ratio(ours, theirs);
    rows.push(
      {
        what: `GET ${path}, per s of processor`,
        ours: thousands(ours),
        reference: `bare node:http ${thousands(theirs)}`,
        ratio: share,
        ...(path === "/" && { budget: { text: "≥ 0.7", holds: share.median >= 0.7 } }),
      },
      {
        what: "",
        ours: "",
        reference: `rendered per request ${thousands(perRequest)}`,
        ratio: ratio(ours, perRequest),
      },
    );
  }
  await rendered.stop();
  return { rows, noise };
}

export async function measureSignups(bench: Bench): Promise<Row[]> {
  const { plan, postgres, folder, say } = bench;
  const pgbench = findProgram("pgbench");
  const script = writePgbenchScript(folder);
  const rows: Row[] = [];
  for (const count of plan.rows) {
    say(`making ${count.toLocaleString("en")} entries`);
    const database = await createFilledDatabase(postgres, count);
    const site = await startSite(bench, database);
    await signupRate(site.url, 1);
    const { ours, theirs } = await takeTurns(
      plan.rounds,
      {
        theirs: () =>
          pgbench
            ? pgbenchRate(pgbench, database.webUrl, script, plan.seconds)
            : insertLoopRate(database.webUrl, plan.seconds),
        ours: () => signupRate(site.url, plan.seconds),
      },
      (round, name) => say(`sign-ups at ${count.toLocaleString("en")}, round ${round} of ${plan.rounds}: ${name}`),
    );
    const share = ratio(ours, theirs);
    rows.push({
      what: `sign-ups/s with ${count.toLocaleString("en")} there`,
      ours: thousands(ours),
      reference: `${pgbench ? "pgbench" : "a loop of INSERTs"} ${thousands(theirs)}`,
      ratio: share,
      budget: { text: "≥ 0.5", holds: share.median >= 0.5 },
    });
    if (count === plan.rows.at(-1)) rows.push(memoryRow(site));
    await site.stop();
  }
  return rows;
}

function memoryRow(site: Server): Row {
  const megabytes = site.peakMegabytes();
  return {
    what: "memory at most, under sign-ups",
    ours: `${megabytes.toFixed(0)} MB`,
    budget: { text: "≤ 150 MB", holds: megabytes <= 150 },
  };
}

export async function measureStart(bench: Bench, site: Server): Promise<Row[]> {
  const { plan, postgres, folder, say } = bench;
  const start = (launch: () => Promise<Server>) => async () => {
    const server = await launch();
    await server.stop();
    return server.startMs;
  };
  const { ours, theirs } = await takeTurns(
    plan.starts,
    {
      theirs: start(() => startBareServer(site.url, join(folder, "answer.json"))),
      ours: start(() => startSite(bench, postgres)),
    },
    (round, name) => say(`start ${round} of ${plan.starts}: ${name}`),
  );
  const { median } = summarise(ours);
  return [
    {
      what: "start to first answer",
      ours: `${median.toFixed(0)} ms`,
      reference: `bare node:http ${summarise(theirs).median.toFixed(0)} ms`,
      ratio: ratio(ours, theirs),
      budget: { text: "≤ 400 ms", holds: median <= 400 },
    },
  ];
}

export async function measureWeight(site: Server): Promise<Row[]> {
  const weight = await weighPage(site.url);
  const row = (what: string, name: keyof typeof budgets): Row => ({
    what: `${what}, brotli`,
    ours: kilobytes(weight[name]),
    budget: { text: `≤ ${budgets[name] / 1024} KB`, holds: weight[name] <= budgets[name] },
  });
  return [
    row("HTML with CSS", "html"),
    row("script of the first load", "loader"),
    row("first load in all", "firstLoad"),
    { what: "of it the font", ours: kilobytes(weight.font) },
    row("JavaScript that hydrates", "hydration"),
  ];
}
