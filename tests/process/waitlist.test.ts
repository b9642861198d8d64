// The waitlist command's command line, as a process.
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { commands } from "../../server/commands/waitlist/commands.ts";
import { builtWaitlist, run, runBuiltWaitlist, urlsOf } from "../support/run.ts";
import { createWaitlistFixture, runWaitlist } from "../support/waitlist-fixture.ts";

const { database, file, addPeople, hold, spawn } = await createWaitlistFixture();

beforeEach(() => database.query("TRUNCATE earlyaccess"));

const waitlist = (args: string[], env?: Record<string, string>) => runBuiltWaitlist(database, args, env);

it("the waitlist command prints help, for all commands and for each", async () => {
  const all = await waitlist(["--help"]);
  expect(all).toMatchObject({ code: 0, stderr: "" });
  for (const name of commands.map((command) => command.name())) {
    expect(all.stdout).toContain(`\n  ${name} `);
    const one = await runWaitlist(database, [name, "--help"]);
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
  ["a wrong number", ["invite", "--first", "0"], / is invalid\. Name a whole number from 1 to 100,000,000, for /],
  ["an excess argument", ["export", "a", "b"], /^error: too many arguments for 'export'\. /],
])("the waitlist command refuses %s with exit code 2", async (_, args, message) => {
  expect(await waitlist(args)).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(message) });
});

it("retry says that no mail or webhook waits where no worker was set up", async () => {
  const stderr = "No worker was set up for this database, so no mail or webhook waits: see docs/worker.md.\n";
  expect(await waitlist(["retry"])).toEqual({ code: 1, stdout: "", stderr });
});

it("the waitlist command says in a sentence that Postgres cannot be reached", async () => {
  const result = await waitlist(["stats"], { DATABASE_OWNER_URL: "postgresql://owner:hunter2@127.0.0.1:1/x" });
  const stderr = "Postgres at 127.0.0.1:1 cannot be reached: ECONNREFUSED\n";
  expect(result).toEqual({ code: 1, stdout: "", stderr });
});

it("the waitlist command says in a sentence that Postgres ended its connection", async () => {
  await addPeople(1);
  const held = await hold("UPDATE", "person0@example.com");
  const command = spawn("joined", "person0@example.com");
  await held.reached();
  const end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()";
  await database.query(`${end} AND wait_event = 'PgSleep'`);
  expect(await command.stop("SIGCONT")).toBe(1);
  expect(command.stderr()).toBe("The connection to Postgres was lost.\n");
});

/** Runs the built program as "$@" in a line of a shell. */
async function runInShell(line: string, command: string) {
  const [program, ...args] = command.split(" ");
  const bundle = join(dirname(builtWaitlist), `${program}.js`);
  const { port: PORT } = new URL(database.ownerUrl); // Taken.
  return run(["sh", "-c", line, "sh", process.execPath, bundle, ...args], { ...urlsOf(database), PORT });
}

it("every program writes all of its output into a pipe that is read late", async () => {
  await addPeople(3);
  await database.query("UPDATE earlyaccess SET invitation = 'first', status = 'invited' WHERE email ~ '0'");
  const ends: [command: string, end: RegExp][] = [
    ["waitlist export", /(?:.*,person\d@example.com,.*\n){3}exit 0\n$/],
    ["waitlist invite --first 1", /\nPerson 1,.*\n(Invited 1 person as .*\n)?exit 0\n$/],
    ["waitlist export --invitation first", /\nPerson 0,.*\nexit 0\n$/],
    ["waitlist show person2@example.com", /named no notice.*\nexit 0\n$/],
    ["waitlist show nobody@example.com", /^The list has no entry .*\nexit 1\n$/],
    ["migrate", /^The database is up to date\.\nexit 0\n$/],
    ["worker", /The worker has no task.*\n(?:\{.*\n)?exit 1\n$/],
    ["index", /is taken by another program.*\n(?:\{.*\n)*exit 1\n$/],
  ];
  const late = `{ head -c 65536 /dev/zero; "$@"; echo "exit $?"; } 2>&1 | { sleep 6; tr -d '\\0'; }`; // 65,536 bytes fill a pipe.
  const outputs = await Promise.all(ends.map(([command]) => runInShell(late, command)));
  for (const [i, [command, end]] of ends.entries()) expect.soft(outputs[i]?.stdout, command).toMatch(end);
});

it.each([
  ["export", `"$@" > /dev/full`],
  ["--help", `"$@" > /dev/full`],
  ["--help", `ulimit -f 1; "$@" > '${file("cut.txt")}'`], // The limit cuts a write, as an almost full disk does.
  [`export ${file("cut.csv")}`, `ulimit -f 1; "$@"`],
])("%s ends with exit code 1 and a message if its output cannot be written: %s", async (command, line) => {
  await addPeople(20);
  const stderr = expect.stringMatching(
    /^(?:The output|\S+cut\.csv) cannot be written: (?:ENOSPC|EFBIG)\.?\n$/,
  ) as string;
  expect(await runInShell(line, `waitlist ${command}`)).toMatchObject({ code: 1, stdout: "", stderr });
});

it.each([
  ["its file takes only a part", "", `ulimit -f 1; "$@" --out '${file("part.csv")}'`],
  ["its disk is full", "", `"$@" > /dev/full`],
  ["nobody reads its output", "Nobody was invited: ", `{ sleep 1; "$@"; } | true`],
])("invite invites nobody if %s", async (_, message, line) => {
  await addPeople(20);
  const { stdout, stderr } = await runInShell(line, "waitlist invite --first 20");
  expect(await database.query("SELECT FROM earlyaccess WHERE status <> 'waiting'")).toEqual([]);
  expect([stdout, stderr]).toEqual(["", expect.stringContaining(message || "cannot be written: ")]);
  expect(existsSync(file("part.csv")) || existsSync(file("part.csv.part"))).toBe(false);
});

it("a command whose output nobody reads ends without a message, and without its stderr it completes its work", async () => {
  await addPeople(3_000);
  const head = await runInShell('{ "$@"; echo "exit $?" >&2; } | head -n 1', "waitlist export");
  expect(head).toMatchObject({ stdout: expect.stringMatching(/^name,.*\n$/) as string, stderr: "exit 1\n" });
  const { code, stdout } = await runInShell('"$@" 2> /dev/full', "waitlist invite --first 2000");
  expect([code, stdout.split("\n").length]).toEqual([1, 2_002]);
});

it("import, joined, invite and erase read a file from stdin, also one that is no file", async () => {
  const people = Array.from({ length: 1_000 }, (_, i) => `Ada,ada${i}@example.com,${"E".repeat(100)}\n`).join("");
  await writeFile(file("people.csv"), `name,email,company\n${people}`);
  const pipe = `cat '${file("people.csv")}' | { sleep 0.5; "$@"; }`;
  const after = async (line: string, command: string) => {
    const { code, stdout, stderr } = await runInShell(line, `waitlist ${command}`);
    return `${code} ${stdout}${stderr}`;
  };
  expect(await after(pipe, "import -")).toMatch(/^0 1,000 lines, .*\nImported 1,000\.\n$/);
  expect(await after('echo ada1@example.com | "$@"', "invite --file -")).toMatch(
    /\nAda,ada1@example\.com,.*\nInvited 1 /,
  );
  expect(await after(pipe, "joined --file -")).toMatch(/^0 Marked 1,000 people as joined\./);
  expect(await after(pipe, "erase --file -")).toMatch(/^0 Removed 1,000 entries\./);
  expect(await after('"$@" < /dev/null', "import -")).toBe("1 stdin is empty.\n");
  expect(await after('{ printf name; sleep 2; printf ";email"; } | "$@"', "import -")).toMatch(
    /^1 The first line names no column company\./,
  );
  const endless = '{ echo name,company; while echo Ada,Engines; do sleep 0.1; done; } | "$@"'; // Ends with its reader.
  expect(await after(endless, "erase --file -")).toMatch(/^1 The first line of stdin names no column email, /);
});
