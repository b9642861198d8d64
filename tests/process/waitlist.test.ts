// The waitlist command's command line, run as in the image.
import { once } from "node:events";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commands } from "../../server/commands/waitlist/commands.ts";
import { projectRoot } from "../../server/project-root.ts";
import { runBuiltWaitlist, runSite, urlsOf } from "../support/run.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";

const { database, file } = await createWaitlistFixture();
const program = (name = "waitlist") => file(`app/dist/server/${name}.js`);
const waitlist = (args: string[], env?: Record<string, string>) => runBuiltWaitlist(database, args, env, program());

// As in the image: the bundle and the migrations, without node_modules.
for (const folder of ["dist/server", "prisma"]) {
  await cp(join(projectRoot, folder), file(`app/${folder}`), { recursive: true });
}

describe("the waitlist command", () => {
  it("prints help, for all commands and for each", async () => {
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
    [
      "an unknown choice",
      ["export", "--format", "xml"],
      / argument 'xml' is invalid\. Allowed choices are csv, ndjson\./,
    ],
    ["a wrong date", ["export", "--since", "01/02/2026"], / '01\/02\/2026' is invalid\. Name a date, for example /],
    ["a missing argument", ["show"], /^error: missing required argument 'ADDRESS'\n/],
    ["a missing option", ["unflag"], /^error: required option '--since <DATE>' not specified\n/],
    ["a wrong number", ["invite", "--first", "0"], / is invalid\. Name a whole number from 1, for example 100\.\n/],
    ["options that exclude each other", ["invite", "--undo", "x", "--dry-run"], / cannot be used with /],
    ["an excess argument", ["export", "a", "b"], /^error: too many arguments for 'export'\. /],
  ])("refuses %s with exit code 2", async (_, args, message) => {
    expect(await waitlist(args)).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(message) });
  });

  it("is not the only program that runs without node_modules", async () => {
    for (const name of ["worker", "migrate"])
      expect(await runBuiltWaitlist(database, ["--help"], { PORT: "x" }, program(name))).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^The configuration is not valid:\n  PORT is "x" /) as string,
      });
  });

  it("says in a sentence that Postgres cannot be reached", async () => {
    const result = await waitlist(["stats"], { DATABASE_OWNER_URL: "postgresql://owner:hunter2@127.0.0.1:1/x" });
    const stderr = "Postgres at 127.0.0.1:1 cannot be reached: ECONNREFUSED\n";
    expect(result).toEqual({ code: 1, stdout: "", stderr });
  });
});

/** @param log undefined for a closed pipe, as after `| head`. */
async function runUnread(args: string[], log?: string) {
  const command: [string, ...string[]] = [process.execPath, program(), ...args];
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
