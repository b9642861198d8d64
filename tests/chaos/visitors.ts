// Visitors who sign up while things break, and remember what they were told.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { Site } from "../support/site.ts";
import type { Stand } from "./scenario.ts";
import { visitor } from "./stand.ts";

/** In milliseconds: how long a visitor may be left without an answer. */
const patience = 5_000;

export interface Answer {
  email: string;
  status: number;
  retryAfter: string | null;
  ms: number;
}

export interface Visitors {
  /** That many new visitors, each with an address of their own, at once or so many milliseconds apart. */
  signUp(site: Site, count: number, apart?: number): Promise<Answer[]>;
  /**
   * One visitor, whose request finds no answer where the site is killed: then undefined.
   * @param from the client's address, as a proxy in front would tell it.
   */
  tryToSignUp(site: Site, number: string, from?: string): Promise<Answer | undefined>;
  /** Everybody who was told 201 so far is on the list, and exactly once. Resolves with how many they are. */
  assertKept(): Promise<number>;
}

export function createVisitors(stand: Stand): Visitors {
  const told = new Set<string>();
  let count = 0;

  async function send(site: Site, number: number | string, from?: string): Promise<Answer> {
    const entry = visitor(number);
    const began = performance.now();
    const response = await fetch(`${site.url}/api/earlyaccess`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...(from && { "X-Forwarded-For": from }) },
      body: JSON.stringify(entry),
      signal: AbortSignal.timeout(4 * patience), // Whoever waits for ever is a failure, too.
    });
    // What counts is the status line: whoever reads 201 and loses the rest was told it.
    if (response.status === 201) told.add(entry.email);
    const ms = performance.now() - began;
    await response.arrayBuffer();
    return { email: entry.email, status: response.status, retryAfter: response.headers.get("Retry-After"), ms };
  }

  return {
    signUp: (site, size, apart = 0) =>
      Promise.all(
        Array.from({ length: size }, async (_, i) => {
          if (apart > 0) await sleep(i * apart);
          return send(site, ++count);
        }),
      ),
    tryToSignUp: (site, number, from) => send(site, number, from).catch(() => undefined),
    assertKept: async () => {
      const rows = await stand.query("SELECT email, count(*)::int AS times FROM earlyaccess GROUP BY email");
      const times = new Map(rows.map((row) => [row.email, row.times]));
      for (const email of told) assert.equal(times.get(email) ?? 0, 1, "times that an address told 201 is there");
      return told.size;
    },
  };
}

/** A sign-up is stored, or refused in time with a word on when to come back. */
export function assertInTime(answers: Answer[]): void {
  for (const { status, retryAfter, ms } of answers) {
    assert(status === 201 || (status === 503 && retryAfter !== null), `a sign-up was answered ${status}`);
    assert(ms < patience, `a sign-up waited ${Math.round(ms)} ms for its ${status}`);
  }
}

export function assertJoined(answers: Answer[]): void {
  assertInTime(answers);
  for (const { status } of answers) assert.equal(status, 201, "the answer to a sign-up with everything in order");
}
