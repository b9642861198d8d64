// The waitlist command's command line, as a process.
import { once } from "node:events";
import { expect, it } from "vitest";
import { commands } from "../../server/commands/waitlist/commands.ts";
import { builtWaitlist, runBuiltWaitlist, runSite, urlsOf } from "../support/run.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";

const { database } = await createWaitlistFixture();
const waitlist = (args: string[], env?: Record<string, string>) => runBuiltWaitlist(database, args, env);

it("the waitlist command prints help, for all commands and for each", async () => {
  const all = await waitlist(["--help"]);
  expect(all).toMatchObject({ code: 0, stderr: "" });
  for (const name of commands.map((command) => command.name())) {
    expect(all.stdout).toContain(`\n  ${name} `);
    const one = await waitlist([name, "--help"]);
    expect(one).toMatchObject({ code: 0, stderr: "" });
    expect(one.stdout).toContain(`Usage: waitlist ${name} `);
  }
});

it.each([
  ["no command", [], /^Usage: waitlist /],
  ["an unknown command", ["\u001B[2J"], /^error: unknown command '\?\[2J'\nSee --help\.\n$/],
  ["an unknown option", ["export", "--\u001B[2J"], /^error: unknown option '--\?\[2J'\nSee --help\.\n$/],
  ["an unknown choice", ["export", "--format", "xml"], / 'xml' is invalid\. Allowed choices are csv, ndjson\./],
  ["a wrong date", ["export", "--since", "01/02/2026"], / '01\/02\/2026' is invalid\. Name a date, for example /],
  ["a missing argument", ["show"], /^error: missing required argument 'ADDRESS'\n/],
  ["a missing option", ["unflag"], /^error: required option '--since <DATE>' not specified\n/],
  ["a wrong number", ["invite", "--first", "0"], / is invalid\. Name a whole number from 1, for example 100\.\n/],
  ["options that exclude each other", ["invite", "--undo", "x", "--dry-run"], / cannot be used with /],
  ["an excess argument", ["export", "a", "b"], /^error: too many arguments for 'export'\. /],
])("the waitlist command refuses %s with exit code 2", async (_, args, message) => {
  expect(await waitlist(args)).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(message) });
});

it("the waitlist command says in a sentence that Postgres cannot be reached", async () => {
  const result = await waitlist(["stats"], { DATABASE_OWNER_URL: "postgresql://owner:hunter2@127.0.0.1:1/x" });
  const stderr = "Postgres at 127.0.0.1:1 cannot be reached: ECONNREFUSED\n";
  expect(result).toEqual({ code: 1, stdout: "", stderr });
});

/** @param log undefined for a closed pipe, as after `| head`. */
async function runUnread(args: string[], log?: string) {
  const command: [string, ...string[]] = [process.execPath, builtWaitlist, ...args];
  const running = runSite({ env: urlsOf(database), command, ...(log && { log }) });
  running.process.stdout?.destroy();
  const [code] = (await once(running.process, "close")) as [number | null];
  return { code, stderr: running.stderr() };
}

it("export with a stdout that nobody reads ends with exit code 1, and says why only on a full disk", async () => {
  expect(await runUnread(["export"])).toEqual({ code: 1, stderr: "" });
  const stderr = "Standard output cannot be written: ENOSPC\n";
  expect(await runUnread(["export"], "/dev/full")).toEqual({ code: 1, stderr });
});
