// A list, a mail server, a worker and the command mail for each test of mailings.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, vi } from "vitest";
import { lanePause } from "../../server/worker/mailing.ts";
import { runBuiltWaitlist, until, urlsOf } from "./run.ts";
import { insertEntries, runWaitlist } from "./waitlist-fixture.ts";
import { createMailFixture } from "./worker.ts";

/** What a mailing needs beside the settings of mails. */
export const senderSettings = {
  CONTROLLER: "Perennial Inc., 1 Garden Way",
  CONTACT_EMAIL: "privacy@perennial.example",
};

export const letter = "Subject: We are open\n\nHi there,\n\nwe are open: https://app.perennial.example\n";

const fastest = ["--per-hour", "3600000"];

export async function createMailingFixture() {
  const fixture = createMailFixture();
  const folder = await mkdtemp(join(tmpdir(), "perennial-mailing-"));
  afterAll(() => rm(folder, { recursive: true }));
  beforeEach(() => void vi.spyOn(lanePause, "longestMs", "get").mockReturnValue(50));
  const { query, settings: confirmationSettings } = fixture;
  const settings = () => ({ ...confirmationSettings(), ...senderSettings });
  const commandSettings = () => ({
    ...settings(),
    ...urlsOf(fixture.database),
    WORKER_DATABASE_URL: fixture.database.workerUrl,
  });
  const waitlist = (args: string[], env: Record<string, string> = {}) =>
    runWaitlist(fixture.database, args, { ...commandSettings(), ...env });
  const outcomes = async (name = "launch"): Promise<Record<string, number>> => {
    const rows = await query(
      `SELECT coalesce(outcome, 'waiting') AS outcome, count(*)::int AS people FROM earlyaccess_kept.mailing_recipients
       WHERE name = $1 GROUP BY 1`,
      [name],
    );
    return Object.fromEntries(rows.map(({ outcome, people }) => [outcome, people]));
  };
  return Object.assign(fixture, {
    settings,
    commandSettings,
    waitlist,
    /** Adds person0@example.com and so on, who confirmed their address, the oldest first. */
    addPeople: async (count: number, columns: object = {}, first = 0) => {
      const person = (number: number) => ({
        name: "Ada",
        email: `person${number}@example.com`,
        company: "Engines",
        created_at: new Date(Date.UTC(2026, 0, 1, 0, 0, number)).toISOString(),
        confirmed_at: "2026-01-02T00:00:00Z",
        status: "waiting",
        imported: true,
        suspected_spam: false,
        ...columns,
      });
      await insertEntries(
        fixture.database,
        Array.from({ length: count }, (_, i) => person(first + i)),
      );
      await query("DELETE FROM graphile_worker._private_jobs WHERE key LIKE 'mail %'");
    },
    /** Writes a file. Returns its path. */
    write: async (text: string | Buffer, name = "letter.txt") => {
      await writeFile(join(folder, name), text);
      return join(folder, name);
    },
    /** Runs mail send at the fastest pace, and expects that it succeeds. Returns what it prints. */
    send: async (people: number, name = "launch", text = letter, options = fastest) => {
      const file = join(folder, "sent.txt");
      await writeFile(file, text);
      const { code, stdout, stderr } = await waitlist(["mail", "send", name, file, `${people}`, ...options]);
      expect([code, stderr], stdout).toEqual([0, ""]);
      return stdout;
    },
    /** Runs the built command as a process of its own. */
    spawnMail: (...args: string[]) => runBuiltWaitlist(fixture.database, ["mail", ...args], commandSettings()),
    outcomes,
    /** Resolves when the recipients of the mailing have these outcomes. */
    settled: (expected: Record<string, number>, name = "launch") =>
      until(`${JSON.stringify(expected)} of ${name}`, async () => {
        const actual = await outcomes(name);
        const names = [...Object.keys(actual), ...Object.keys(expected)];
        return names.every((outcome) => (actual[outcome] ?? 0) === (expected[outcome] ?? 0));
      }),
    /** Lets the mailing send its next mail at once. */
    hastenMailing: () => query("UPDATE earlyaccess_kept.mailings SET next_at = now()"),
    /** Lets this time pass for mailings. */
    pass: async (time: string) => {
      await query(`UPDATE earlyaccess_kept.mailings SET next_at = next_at - interval '${time}', active_at = active_at - interval '${time}',
          failing_since = failing_since - interval '${time}';
        UPDATE earlyaccess_kept.mailing_recipients SET due_at = due_at - interval '${time}', tried_at = tried_at - interval '${time}'`);
    },
    /** How often each address got an accepted mail. */
    received: () => {
      const counts = new Map<string, number>();
      for (const to of fixture.server.accepted) counts.set(to, (counts.get(to) ?? 0) + 1);
      return counts;
    },
  });
}
