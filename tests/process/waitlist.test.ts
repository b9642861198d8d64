// The waitlist command's command line, run as in the image.
import { once } from "node:events";
import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { projectRoot } from "../../server/project-root.ts";
import { runSite } from "../support/site.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";
import { runWaitlist } from "../support/waitlist.ts";

const { database, file, entries } = createWaitlistFixture();
const program = () => file("app/dist/server/waitlist.js");
const waitlist = (args: string[], env?: Record<string, string>) => runWaitlist(database, args, env, program());

// As in the image: the bundle and the migrations, without node_modules.
beforeAll(async () => {
  for (const folder of ["dist/server", "prisma"]) {
    await cp(join(projectRoot, folder), file(`app/${folder}`), { recursive: true });
  }
});

describe("the command line", () => {
  it("prints help, for all commands and for each", async () => {
    const all = await waitlist(["--help"]);
    expect(all).toMatchObject({ code: 0, stderr: "" });
    const names = [...all.stdout.matchAll(/^ {2}([a-z]+) {2,}\S/gm)].map(([, name]) => name as string);
    expect(names).toEqual(["export", "import", "invite", "stats", "unflag", "erase", "purge", "show", "doctor"]);
    for (const name of names) {
      const one = await waitlist([name, "--help"]);
      expect(one).toMatchObject({ code: 0, stderr: "" });
      expect(one.stdout).toContain(`Usage: waitlist ${name} `);
    }
  });

  it.each([
    [[], /^Manages the waitlist/],
    [["list"], /^There is no command "list"\. The commands are export, import, .*\n$/],
    [["\u001B[2J\nlist"], /^There is no command "\?\[2J\?list"\. .*\n$/],
    [["export", "--\u001B[2J\n"], /^Unknown option '--\?\[2J\?'\. .*\n$/],
    [["stats", "--since", "\u001B[2J\n"], /^--since is "\?\[2J\?" but .*\n$/],
    [["stats", "\u001B[2J\n"], /^stats does not take "\?\[2J\?"\. .*\n$/],
    [["constructor"], /^There is no command "constructor"/],
    [["export", "--fast"], /^Unknown option '--fast'\. See: waitlist export --help\n$/],
    [["export", "--format"], /^Option '--format <value>' argument missing\. See: /],
    [["export", "--format", "constructor"], /^--format is "constructor" but must be csv or ndjson\.\n$/],
    [["export", "--status", "waiting,gone"], /^--status is "gone" but must be waiting, invited, joined, or left\.\n$/],
    [["export", "--status", ""], /^--status is "" but must be /],
    [["show"], /^show needs ADDRESS\. See: /],
    [["show", "ada@example.com", "zoe@example.com"], /^show does not take "zoe@example\.com"\. See: /],
    [["show", "ada@example.com", "--format", "xml"], /^--format is "xml" but must be text or json\.\n$/],
    [["export", "--format", "xml"], /^--format is "xml" but must be csv or ndjson\.\n$/],
    [["export", "--since", "01/02/2026"], /^--since is "01\/02\/2026" but must be a date, for example .*\n$/],
    [["export", "a", "b"], /^export does not take "b"\. See: /],
    [["erase"], /^erase needs ADDRESS\. See: waitlist erase --help\n$/],
  ])("refuses %j with exit code 2", async (args, message) => {
    expect(await waitlist(args)).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(message) });
  });

  it.each([
    ["import", "\u001B[2J\n.csv", /^\?\[2J\?\.csv cannot be read: ENOENT\. In a container, mount the folder .*\n$/],
    [
      "export",
      "/\u001B[2J\n/list.csv",
      /^\/\?\[2J\?\/list\.csv cannot be written: ENOENT\. In a container, mount the folder .*\n$/,
    ],
  ])("%s prints the path %j without control characters", async (command, path, message) => {
    expect(await waitlist([command, path])).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(message) });
  });

  it("says in a sentence that Postgres cannot be reached", async () => {
    const result = await waitlist(["stats"], { DATABASE_OWNER_URL: "postgresql://owner:hunter2@127.0.0.1:1/x" });
    const stderr = "Postgres at 127.0.0.1:1 cannot be reached: ECONNREFUSED\n";
    expect(result).toEqual({ code: 1, stdout: "", stderr });
  });
});

describe("with a closed stdout, as after `| head`, or on a full disk", () => {
  async function runUnread(args: string[], log?: string) {
    const env = { DATABASE_URL: database.webUrl, DATABASE_OWNER_URL: database.ownerUrl };
    const command = runSite({ env, command: [process.execPath, program(), ...args], ...(log && { log }) });
    command.process.stdout?.destroy();
    const [code] = (await once(command.process, "close")) as [number | null];
    return { code, stderr: command.stderr() };
  }

  it.each([[["export"]], [["stats"]], [["stats", "--html", "-"]]])(
    "%j ends with exit code 1, and says why only on a full disk",
    async (args) => {
      expect(await runUnread(args)).toEqual({ code: 1, stderr: "" });
      const stderr = "Standard output cannot be written: ENOSPC\n";
      expect(await runUnread(args, "/dev/full")).toEqual({ code: 1, stderr });
    },
  );

  it.each([
    [undefined, "write EPIPE"],
    ["/dev/full", "ENOSPC: no space left on device, write"],
  ])("invite names the invitation (stdout %s)", async (log, reason) => {
    await database.query(
      "INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'A', 'a@b.co', 'E')",
    );
    const { code, stderr } = await runUnread(["invite", "--first", "1"], log);
    expect(code).toBe(1);
    const [, invitation = ""] = /^Invited 1 person as invitation (\S+)\.\n/.exec(stderr) ?? [];
    const remedy = `invite --show ${invitation} prints its list, and invite --undo ${invitation} reverts it.\n`;
    expect(stderr).toContain(`\n${reason}. If invite --list shows invitation ${invitation}: ${remedy}`);
    const list = "name,email,company,job_title\nA,a@b.co,E,\n";
    expect(await waitlist(["invite", "--show", invitation])).toEqual({ code: 0, stdout: list, stderr: "" });
    await database.query("TRUNCATE earlyaccess");
  });

  it("import inserts every entry", async () => {
    await writeFile(file("unread.csv"), "name,email,company\nAda,ada@example.com,E\n");
    expect(await runUnread(["import", file("unread.csv")])).toEqual({ code: 1, stderr: "" });
    expect(await entries()).toHaveLength(1);
  });
});
