// The measurements of speed and memory: each returns rows of the benchmark's table.
import type { DatabaseSettings } from "../../server/config/database-urls.ts";
import { memoryOf, type Site } from "../support/run.ts";
import { ready } from "../support/site.ts";
import { pageRate, pgbenchRate, signupRate, startBareServer, startMeasuredSite } from "./servers.ts";

export interface Bench {
  rounds: number;
  /** How long each round loads each contestant. */
  seconds: number;
  database: DatabaseSettings;
  /** For files; deleted at the end. */
  folder: string;
}

export type Row = [what: string, ours: string, reference: string, ratio: string, verdict: string];

export const verdict = (budget: string, holds: boolean) => `${budget} ${holds ? "met" : "NOT MET"}`;

export async function measurePages({ rounds, seconds, folder }: Bench, site: Site): Promise<Row[]> {
  const bare = await startBareServer(folder, site);
  for (const server of [bare, site]) await pageRate(server, 1); // Warm-up.
  const { ours, theirs, ratio } = await takeTurns(rounds, {
    ours: () => pageRate(site, seconds),
    theirs: () => pageRate(bare, seconds),
  });
  await bare.stop();
  const what = "GET / per second of 64 clients";
  return [[what, `${ours}`, `bare node:http ${theirs}`, ratio.toFixed(2), verdict("≥ 0.8", ratio >= 0.8)]];
}

export async function measureSignups({ rounds, seconds, database, folder }: Bench): Promise<Row[]> {
  const site = await startMeasuredSite(folder, database);
  await ready(site);
  await signupRate(site, 64, 1); // Warm-up.
  // So many clients that the floor of each response does not limit them.
  const many = await takeTurns(rounds, {
    ours: () => signupRate(site, 1_000, 3 * seconds),
    theirs: () => pgbenchRate(folder, database, 10, seconds), // As many connections as the site has at most.
  });
  const memory = memoryOf(site.process.pid, "VmHWM");
  const bare = await startBareServer(folder, site);
  await signupRate(bare, 1_000, 3 * seconds);
  const ofBare = memoryOf(bare.process.pid, "VmHWM");
  await bare.stop();
  const one = 1000 / (await signupRate(site, 1, 3 * seconds));
  await site.stop();
  const rate = "sign-ups per second of 1,000 clients";
  return [
    [rate, `${many.ours}`, `pgbench ${many.theirs}`, many.ratio.toFixed(2), verdict("≥ 0.8", many.ratio >= 0.8)],
    [
      "their peak memory",
      `${memory.toFixed()} MB`,
      `bare node:http ${ofBare.toFixed()} MB`,
      (memory / ofBare).toFixed(2),
      verdict("≤ 220 MB", memory <= 220),
    ],
    ["sign-up of one client", `${one.toFixed()} ms`, "floor 100 ms", "", verdict("≤ 110 ms", one <= 110)],
  ];
}

export async function measureStart({ rounds, database, folder }: Bench, site: Site): Promise<Row[]> {
  const timeStart = (start: () => Promise<Site>) => async () => {
    const began = performance.now();
    const server = await start();
    const ms = performance.now() - began;
    await server.stop();
    return ms;
  };
  const { ours, theirs, ratio } = await takeTurns(rounds, {
    ours: timeStart(() => startMeasuredSite(folder, database)),
    theirs: timeStart(() => startBareServer(folder, site)),
  });
  const what = "start to first response";
  return [[what, `${ours} ms`, `bare node:http ${theirs} ms`, ratio.toFixed(2), verdict("≤ 9", ratio <= 9)]];
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return ((sorted[(sorted.length - 1) >> 1] as number) + (sorted[sorted.length >> 1] as number)) / 2;
}

/** Returns the median over the rounds' ratios: within a round, both meet the same noise of the machine. */
export const medianRatio = (ours: number[], theirs: number[]) =>
  median(ours.map((value, round) => value / (theirs[round] as number)));

/** Measures both once in each round, every other round in the opposite order. Returns medians. */
async function takeTurns(rounds: number, measure: Record<"ours" | "theirs", () => Promise<number>>) {
  const values = { ours: [] as number[], theirs: [] as number[] };
  const order = ["theirs", "ours"] as const;
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 ? order.toReversed() : order) values[name].push(await measure[name]());
  }
  const [ours, theirs] = [Math.round(median(values.ours)), Math.round(median(values.theirs))];
  return { ours, theirs, ratio: medianRatio(values.ours, values.theirs) };
}
