// The measurements: each returns rows of the benchmark's table.
import type { DatabaseUrls } from "../../server/database/roles.ts";
import { createFilledDatabase } from "../support/filled-database.ts";
import { budgets, weighPage } from "../support/page-weight.ts";
import type { Postgres } from "../support/postgres.ts";
import { memoryOf } from "../support/process-usage.ts";
import type { Say } from "../support/scenarios.ts";
import type { Site } from "../support/site.ts";
import { load, pageRate, pgbenchRate, signupRate, startBareServer, startMeasuredSite } from "./servers.ts";
import { ratio, summarise, takeTurns, type Sample } from "./statistics.ts";

export interface Bench {
  rounds: number;
  /** How long each round loads each contestant. */
  seconds: number;
  /** How many entries the list holds, for each measurement of sign-ups. */
  entries: number[];
  postgres: Postgres;
  /** For files; deleted at the end. */
  folder: string;
  say: Say;
}

export interface Row {
  what: string;
  ours: string;
  /** What it is compared with, and the figure of that. */
  reference?: string;
  ratio?: Sample;
  budget?: { text: string; holds: boolean };
}

const formatMedian = (values: number[], unit: string) =>
  `${summarise(values).median.toLocaleString("en", { maximumFractionDigits: 0 })} ${unit}`;
const atLeast = (least: number, value: number) => ({ text: `≥ ${least}`, holds: value >= least });
const atMost = (most: number, unit: string, value: number) => ({ text: `≤ ${most} ${unit}`, holds: value <= most });

export async function measurePages({ rounds, seconds, folder, say }: Bench, site: Site): Promise<Row[]> {
  say("GET / against a bare node:http server");
  const bare = await startBareServer(folder, site);
  for (const server of [bare, site]) await load(server, 1, "pages"); // Warm-up.
  const { ours, theirs } = await takeTurns(rounds, {
    theirs: () => pageRate(bare, seconds),
    ours: () => pageRate(site, seconds),
  });
  await bare.stop();
  const share = ratio(ours, theirs);
  return [
    {
      what: "GET / per second of processor time",
      ours: formatMedian(ours, "requests"),
      reference: `bare node:http ${formatMedian(theirs, "requests")}`,
      ratio: share,
      budget: atLeast(0.7, share.median),
    },
    { what: "noise of the machine", ours: `±${(summarise(theirs).spread * 100).toFixed()} % of bare node:http` },
  ];
}

export async function measureSignups({ rounds, seconds, entries, postgres, folder, say }: Bench): Promise<Row[]> {
  const rows: Row[] = [];
  for (const count of entries) {
    const label = `${count.toLocaleString("en")} entries`;
    say(`sign-ups against pgbench, with ${label}`);
    const database = await createFilledDatabase(postgres, count);
    const site = await startMeasuredSite(folder, database);
    await signupRate(site, 1); // Warm-up.
    const { ours, theirs } = await takeTurns(rounds, {
      theirs: () => pgbenchRate(folder, database, seconds),
      ours: () => signupRate(site, seconds),
    });
    const memory = memoryOf(site.process.pid, "VmHWM");
    await site.stop();
    const share = ratio(ours, theirs);
    rows.push(
      {
        what: `sign-ups per second, with ${label}`,
        ours: formatMedian(ours, "sign-ups"),
        reference: `pgbench ${formatMedian(theirs, "INSERTs")}`,
        ratio: share,
        budget: atLeast(0.5, share.median),
      },
      { what: "peak memory under these sign-ups", ours: `${memory.toFixed()} MB`, budget: atMost(160, "MB", memory) },
    );
  }
  return rows;
}

export async function measureStart(bench: Bench, database: DatabaseUrls, site: Site): Promise<Row> {
  bench.say("starts");
  const timeStart = (start: () => Promise<Site>) => async () => {
    const began = performance.now();
    const server = await start();
    const ms = performance.now() - began;
    await server.stop();
    return ms;
  };
  const { ours, theirs } = await takeTurns(bench.rounds, {
    theirs: timeStart(() => startBareServer(bench.folder, site)),
    ours: timeStart(() => startMeasuredSite(bench.folder, database)),
  });
  const share = ratio(ours, theirs);
  return {
    what: "start to first response",
    ours: formatMedian(ours, "ms"),
    reference: `bare node:http ${formatMedian(theirs, "ms")}`,
    ratio: share,
    budget: { text: "≤ 5", holds: share.median <= 5 },
  };
}

export async function measureWeight(site: Site): Promise<Row[]> {
  const weight = await weighPage(site.url);
  const names = Object.keys(budgets) as (keyof typeof budgets)[];
  return names.map((name) => ({
    what: `${name}, brotli`,
    ours: `${(weight[name] / 1024).toFixed(1)} KB`,
    budget: atMost(budgets[name] / 1024, "KB", weight[name] / 1024),
  }));
}
