// waitlist invite: who is chosen, the list, the invitations, several processes at once, and one that is killed.
import { access, readFile, rm, stat, writeFile } from "node:fs/promises";
import type pg from "pg";
import { beforeEach, expect, it } from "vitest";
import { fieldColumns } from "../../server/database/columns.ts";
import { migrate } from "../../server/database/migrate.ts";
import { markJoined, revertInvitation } from "../../server/models/operators/invitations.ts";
import { withClient } from "../support/postgres.ts";
import { runBuiltWaitlist, until } from "../support/run.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";

const { database, file, waitlist, entries, add, addPeople, hold, spawn } = await createWaitlistFixture();

beforeEach(async () => {
  await database.query("TRUNCATE earlyaccess");
  await rm(file("list.csv"), { force: true });
});

const invite = (...args: string[]) => waitlist(["invite", ...args]);

/** Invites into list.csv, and returns the name of the invitation. */
async function inviteToFile(...args: string[]): Promise<string> {
  await rm(file("list.csv"), { force: true });
  const { code, stderr } = await invite(...args, "--out", file("list.csv"));
  expect(code).toBe(0);
  return / as invitation (\d{4}-\d\d-\d\d-\d{4}-\d+)/.exec(stderr)?.[1] as string;
}

const optional = ",".repeat(fieldColumns.length - 3);
const listOf = (...people: number[]) =>
  [fieldColumns.join(), ...people.map((i) => `Person ${i},person${i}@example.com,Engines${optional}`), ""].join("\n");

const invited = async () =>
  (await database.query("SELECT name FROM earlyaccess WHERE status = 'invited' ORDER BY created_at, id")).map(
    ({ name }) => name,
  );

const latestChange = async () =>
  (await database.query("SELECT new_status, changed_by FROM earlyaccess_status_changes ORDER BY id DESC LIMIT 1"))[0];

const tasks = [["--first", "1"], ["--file", "/none"], ["--list"], ["--undo", "first"]];

it("invite refuses two tasks at once, and options of another task", async () => {
  for (const [i, task] of tasks.entries()) {
    const options = i < 2 ? [] : [["--source", "news"], ["--confirmed"], ["--dry-run"], ["--out", file("list.csv")]];
    for (const other of [...tasks.slice(i + 1), ...options]) {
      const { code, stderr } = await invite(...task, ...other);
      expect([...other, code, stderr]).toEqual([...other, 2, expect.stringContaining("cannot be used with")]);
    }
  }
});

it("invite takes the oldest people, writes their list, and names a new invitation each time", async () => {
  await addPeople(13); // "person10" is before "person2".
  await database.query("UPDATE earlyaccess SET company = '=Engines' WHERE name = 'Person 0'");
  const { code, stdout, stderr } = await invite("--first", "11", "--out", file("list.csv"));
  expect([code, stdout]).toEqual([0, `Wrote 11 entries to ${file("list.csv")}.\n`]);
  expect(stderr).toMatch(/^Invited 11 people as invitation \S+\.\n$/);
  expect(await readFile(file("list.csv"), "utf8")).toBe(listOf(...Array(11).keys()).replace("Engines", "'=Engines"));
  expect((await stat(file("list.csv"))).mode & 0o777).toBe(0o600);
  const changed_by = new URL(database.ownerUrl).username;
  expect(await latestChange()).toEqual({ new_status: "invited", changed_by });
  const next = await inviteToFile("--first", "2");
  expect(stderr).not.toContain(next);
  expect(await readFile(file("list.csv"), "utf8")).toBe(listOf(11, 12));
  const [named] = await database.query("SELECT invitation FROM earlyaccess WHERE name = 'Person 12'");
  expect(named).toEqual({ invitation: next });
});

it("invite leaves out flagged people and all who are not waiting, chooses by source and by confirmation, and --dry-run changes nothing", async () => {
  const at = (day: number) => ({ created_at: `2026-01-0${day}T00:00:00Z` });
  const confirmed_at = "2026-02-01T00:00:00Z";
  await add("Campaign", "a@example.com", { ...at(1), confirmed_at, utm_source: "news", referrer_host: "example.org" });
  await add("Link", "b@example.com", { ...at(2), confirmed_at, utm_source: "", referrer_host: "example.org" });
  await add("Direct", "c@example.com", { ...at(3), referrer_host: "" });
  await add("Late link", "d@example.com", { ...at(4), referrer_host: "example.org" });
  const others = { ...at(1), confirmed_at, referrer_host: "example.org" };
  await add("Bot", "bot@example.com", { ...others, suspected_spam: true });
  for (const status of ["invited", "joined", "left"]) await add(status, `${status}@example.com`, { ...others, status });
  const stdout = "Would invite 1 person; 2 match.\n";
  const dryRun = await invite("--first", "1", "--dry-run", "--source", "example.org", "--out", file("list.csv"));
  expect(dryRun).toEqual({ code: 0, stdout, stderr: "" });
  const take = async (...args: string[]) => {
    await inviteToFile("--first", "9", ...args);
    const sql = `WITH invited AS (SELECT * FROM earlyaccess WHERE invitation IS NOT NULL ORDER BY created_at)
      UPDATE earlyaccess SET status = 'waiting', invitation = NULL FROM invited WHERE earlyaccess.id = invited.id`;
    return (await database.query(`${sql} RETURNING invited.name`)).map(({ name }) => name);
  };
  expect(await take("--source", "news")).toEqual(["Campaign"]);
  expect(await take("--source", "example.org")).toEqual(["Link", "Late link"]);
  expect(await take("--source", "direct")).toEqual(["Direct"]);
  expect(await take("--confirmed")).toEqual(["Campaign", "Link"]);
  expect(await invite("--first", "1", "--source", "none", "--out", file("none.csv"))).toEqual({
    code: 1,
    stdout: "",
    stderr: "Nobody was invited: no waiting entry matches.\n",
  });
  await expect(access(file("none.csv"))).rejects.toThrow("ENOENT");
});

it("invite writes addresses as they are, and names those that it leaves out because a spreadsheet could run them", async () => {
  await add("=Ada", "+49=ada@example.com");
  const commands = ["=cmd|'/c'@example.com", "+a!b@example.com", "-a|b@example.com", "@a!b@example.com"];
  for (const email of commands) await add("Eve", email);
  const { code, stdout, stderr } = await invite("--first", "9");
  expect([code, stdout]).toEqual([0, `${fieldColumns.join()}\n'=Ada,+49=ada@example.com,Engines${optional}\n`]);
  expect(stderr).toContain(`Not invited: 4 (${commands.join(", ")}): a formula for a spreadsheet.\n`);
  expect(stderr).toMatch(/Invited 1 person as /);
});

it("invite --file invites a group chosen by hand, and names those whom it does not invite", async () => {
  await addPeople(4);
  await add("Zoë", "zoe@xn--mnchen-3ya.de");
  await database.query("UPDATE earlyaccess SET status = 'joined' WHERE name = 'Person 2'");
  await database.query("UPDATE earlyaccess SET suspected_spam = true WHERE name = 'Person 3'");
  const chosen = ["PERSON1@example.com", "zoe@münchen.de", "person2@example.com", "person3@example.com", "nobody@b.co"];
  await writeFile(file("chosen.txt"), chosen.join("\r\n"));
  const stderr =
    "Not invited: 3 (person2@example.com, person3@example.com, nobody@b.co): " +
    "not on the list, not waiting, flagged, or a formula for a spreadsheet.\n";
  const dryRun = { code: 0, stdout: "Would invite 2 people; 2 match.\n", stderr };
  expect(await invite("--file", file("chosen.txt"), "--dry-run")).toEqual(dryRun);
  for (const narrower of [["--confirmed"], ["--source", "news"]]) {
    const none = await invite("--file", file("chosen.txt"), ...narrower, "--dry-run");
    expect(none).toMatchObject({ code: 1, stdout: "Would invite 0 people; 0 match.\n" });
    expect(none.stderr).toMatch(/\nNobody was invited: no waiting entry matches\.\n$/);
  }
  await inviteToFile("--file", file("chosen.txt"));
  expect(await invited()).toEqual(["Person 1", "Zoë"]);
  await writeFile(file("chosen.txt"), "person0@example.com\nPerson 3\n");
  const refused = { code: 1, stderr: '"Person 3" is not an email address. Nothing was changed.\n' };
  expect(await invite("--file", file("chosen.txt"))).toMatchObject(refused);
});

it.each([
  ["exists already", "list.csv", /list\.csv exists already\. Nothing was changed\.\n$/],
  [
    "is in a missing folder",
    "missing/list.csv",
    /list\.csv\.part cannot be written: ENOENT\. To write a file from a container, /,
  ],
])("invite marks nobody if the file %s", async (_, name, message) => {
  await addPeople(2);
  await writeFile(file("list.csv"), "as it was");
  const result = await invite("--first", "2", "--out", file(name));
  expect(result).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(message) });
  expect(await invited()).toEqual([]);
  expect(await readFile(file("list.csv"), "utf8")).toBe("as it was");
});

/** Invites Person 0, 1 and 2, of whom Person 1 joins. Returns the invitation. */
async function inviteThree(): Promise<string> {
  await addPeople(4);
  const invitation = await inviteToFile("--first", "3");
  await database.query("UPDATE earlyaccess SET status = 'joined' WHERE name = 'Person 1'");
  return invitation;
}

const exportInvitation = (...args: string[]) => waitlist(["export", "--invitation", ...args]);

it("export --invitation writes those who are still invited, with addresses as they are", async () => {
  const invitation = await inviteThree();
  expect(await exportInvitation(invitation)).toEqual({ code: 0, stdout: listOf(0, 2), stderr: "" });
  await database.query("UPDATE earlyaccess SET email = '+0@example.com', company = '=Engines' WHERE name = 'Person 0'");
  const stdout = `Wrote 2 entries to ${file("again.csv")}.\n`;
  expect(await exportInvitation(invitation, file("again.csv"))).toEqual({ code: 0, stdout, stderr: "" });
  const changed = listOf(0, 2).replace("person0", "+0").replace("Engines", "'=Engines");
  expect(await readFile(file("again.csv"), "utf8")).toBe(changed);
});

it("export --invitation takes no other option", async () => {
  const flags = [["--excel"], ["--confirmed"], ["--without-flagged"]];
  for (const option of [...flags, ["--format", "csv"], ["--since", "1d"], ["--until", "1d"], ["--status", "invited"]]) {
    const { code, stderr } = await exportInvitation("first", ...option);
    expect([...option, code, stderr]).toEqual([...option, 2, expect.stringContaining("cannot be used with")]);
  }
});

it("invite --list counts the people of each invitation, the newest first", async () => {
  await inviteThree();
  for (const invitation of ["2025-12-31-2359-1001", "2026-01-01-0000-1000"]) {
    await add("Ada", `${invitation}@example.com`, { invitation, status: "invited" });
  }
  await database.query("UPDATE earlyaccess SET invitation = '2026-01-01-0000-999' WHERE name LIKE 'Person%'");
  const one = "1 person, 1 still invited, 0 joined\n";
  const list = `2026-01-01-0000-1000  ${one}2026-01-01-0000-999  4 people, 2 still invited, 1 joined\n`;
  expect(await invite("--list")).toEqual({ code: 0, stdout: `${list}2025-12-31-2359-1001  ${one}`, stderr: "" });
});

it("invite --undo makes those who are still invited waiting, and the first of the next invitation", async () => {
  const invitation = await inviteThree();
  await invite("--undo", await inviteToFile("--first", "1"));
  expect(await invite("--undo", invitation)).toMatchObject({ code: 0, stdout: "Made 2 people waiting again.\n" });
  expect(await database.query("SELECT status, invitation FROM earlyaccess ORDER BY name")).toEqual([
    { status: "waiting", invitation: null },
    { status: "joined", invitation },
    { status: "waiting", invitation: null },
    { status: "waiting", invitation: null },
  ]);
  expect(await latestChange()).toMatchObject({ new_status: "waiting" });
  await inviteToFile("--first", "1");
  expect(await invited()).toEqual(["Person 0"]);
});

it("invite --undo leaves those who join at the same time joined", async () => {
  const invitation = await inviteThree();
  const as = <T>(work: (session: pg.Client) => Promise<T>) => withClient(database.ownerUrl, work);
  const waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  const areWaiting = (commands: number) =>
    until(`${commands} wait`, async () => (await database.query(waiting)).length === commands);
  const [, undone] = await as(async (holder) => {
    await holder.query("BEGIN; SELECT FROM earlyaccess WHERE name = 'Person 0' FOR UPDATE");
    // Postgres gives the row to those who wait for it in their order.
    const joining = as((session) => markJoined(session, ["person0@example.com"]));
    await areWaiting(1);
    const undoing = as((session) => revertInvitation(session, invitation));
    await areWaiting(2);
    await holder.query("COMMIT");
    return Promise.all([joining, undoing]);
  });
  expect(undone).toBe(1);
  expect((await entries()).map(({ status }) => status)).toEqual(["joined", "joined", "waiting", "waiting"]);
});

it("invite --undo and export --invitation refuse an invitation of which nobody is still invited", async () => {
  await inviteThree();
  const stderr = 'Nobody of the invitation "none" is still invited. See: waitlist invite --list\n';
  expect(await invite("--undo", "none")).toEqual({ code: 1, stdout: "", stderr });
  expect(await exportInvitation("none", file("none.csv"))).toMatchObject({ code: 1, stderr });
  await expect(access(file("none.csv"))).rejects.toThrow("ENOENT");
});

it("invite, joined, export and show work with an admin's connection, and the status history has the admin's name", async () => {
  await migrate({ ...database, adminUrl: database.adminRoleUrl });
  await addPeople(2);
  const env = { DATABASE_OWNER_URL: database.adminRoleUrl };
  const { code, stderr } = await waitlist(["invite", "--first", "1", "--out", file("list.csv")], env);
  expect(code).toBe(0);
  expect(await latestChange()).toMatchObject({ changed_by: new URL(database.adminRoleUrl).username });
  const [, invitation = ""] = / as invitation (\S+)\./.exec(stderr) ?? [];
  for (const args of [
    ["invite", "--undo", invitation],
    ["joined", "person1@example.com"],
    ["export"],
    ["show", "person0@example.com"],
  ]) {
    expect(await waitlist(args, env)).toMatchObject({ code: 0, stderr: "" });
  }
});

it("ten invite processes never take the same person, and each file has its whole invitation", async () => {
  await addPeople(400);
  const files = Array.from({ length: 10 }, (_, i) => file(`race-${i}.csv`));
  const runs = await withClient(database.ownerUrl, async (holder) => {
    await holder.query("BEGIN; LOCK TABLE earlyaccess IN ACCESS EXCLUSIVE MODE");
    const started = files.map((path) => runBuiltWaitlist(database, ["invite", "--first", "50", "--out", path]));
    const waiting = "SELECT FROM pg_locks WHERE relation = 'earlyaccess'::regclass AND NOT granted";
    await until("all ten wait for the table", async () => (await holder.query(waiting)).rowCount === 10, 60);
    await holder.query("COMMIT");
    return Promise.all(started);
  });
  const lists = await Promise.all(files.map((path) => readFile(path, "utf8").catch(() => "")));
  const emails = lists.map((list) => list.match(/person\d+@example\.com/g) ?? []);
  expect(emails.flat()).toHaveLength(400);
  expect(new Set(emails.flat()).size).toBe(400);
  for (const [i, { stderr }] of runs.entries()) {
    const invitation = / as invitation (\S+)\./.exec(stderr)?.[1];
    const sql = "SELECT email FROM earlyaccess WHERE status = 'invited' AND invitation = $1";
    const listed = await database.query(sql, [invitation]);
    expect(listed.map(({ email }) => email as string).toSorted()).toEqual(emails[i]?.toSorted());
  }
});

it.each(["SIGKILL", "SIGINT"] as const)("an invite run that %s ends invites nobody", async (signal) => {
  await addPeople(2_500);
  const held = await hold("UPDATE", "person1500@example.com");
  const inviting = spawn("invite", "--first", "2500", "--out", file(`${signal}.csv`));
  await held.reached();
  await inviting.stop(signal);
  expect(inviting.stderr()).toBe(signal === "SIGINT" ? "Ended by SIGINT.\n" : "");
  await held.release();
  await expect(access(file(`${signal}.csv`))).rejects.toThrow("ENOENT");
  const changed = "SELECT FROM earlyaccess WHERE status <> 'waiting' OR invitation IS NOT NULL";
  expect(await database.query(changed)).toEqual([]);
});

it("an invite run that is killed during its commit leaves no list, and export --invitation writes it if people are invited", async () => {
  await addPeople(3);
  const held = await hold("COMMIT", "person1@example.com");
  const inviting = spawn("invite", "--first", "3", "--out", file("killed.csv"));
  await held.reached();
  expect(await readFile(file("killed.csv.part"), "utf8")).toBe(listOf(0, 1, 2));
  await inviting.stop("SIGKILL");
  await expect(access(file("killed.csv"))).rejects.toThrow("ENOENT");
  expect(await invited()).toEqual([]);
  await held.release(); // Postgres completes the commit.
  const refused = await invite("--first", "1", "--out", file("killed.csv"));
  expect(refused.stderr).toMatch(/killed\.csv\.part cannot be written: EEXIST\. .* killed: then remove it\.\n$/);
  const { stdout } = await invite("--list");
  expect(stdout).toMatch(/^\S+ {2}3 people, 3 still invited, 0 joined\n$/);
  const [invitation = ""] = stdout.split(" ");
  expect(await exportInvitation(invitation)).toEqual({ code: 0, stdout: listOf(0, 1, 2), stderr: "" });
});

it("a reader that takes its time holds no entry of the people who are invited", async () => {
  await addPeople(10_000);
  const inviting = spawn("invite", "--first", "10000");
  inviting.process.stdout?.pause();
  await until("they are invited", () => / 10,000 people /.test(inviting.stderr()));
  const free = "SELECT FROM earlyaccess WHERE status = 'invited' FOR UPDATE NOWAIT";
  expect(await database.query(free)).toHaveLength(10_000);
  expect(inviting.process.exitCode).toBeNull();
  inviting.process.stdout?.resume();
  expect(await inviting.stop("SIGCONT")).toBe(0);
  expect(inviting.stdout()).toBe(listOf(...Array(10_000).keys()));
});
