// waitlist invite: who is chosen, the list, and the invitations.
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { beforeEach, expect, it } from "vitest";
import { migrate } from "../../server/database/migrate.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";

const { database, file, waitlist, add, addPeople } = await createWaitlistFixture();

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

const listOf = (...people: number[]) =>
  ["name,email,company,job_title", ...people.map((i) => `Person ${i},person${i}@example.com,Engines,`), ""].join("\n");

const invited = async () =>
  (await database.query("SELECT name FROM earlyaccess WHERE status = 'invited' ORDER BY created_at, id")).map(
    ({ name }) => name,
  );

const latestChange = async () =>
  (await database.query("SELECT new_status, changed_by FROM earlyaccess_status_changes ORDER BY id DESC LIMIT 1"))[0];

it("invite takes the oldest people, writes their list, and names a new invitation each time", async () => {
  await addPeople(5);
  const { code, stdout, stderr } = await invite("--first", "2", "--out", file("list.csv"));
  expect([code, stdout]).toEqual([0, `Wrote 2 entries to ${file("list.csv")}.\n`]);
  expect(stderr).toMatch(/^Invited 2 people as invitation \S+\.\n$/);
  expect(await readFile(file("list.csv"), "utf8")).toBe(listOf(0, 1));
  expect((await stat(file("list.csv"))).mode & 0o777).toBe(0o600);
  const changed_by = new URL(database.ownerUrl).username;
  expect(await latestChange()).toEqual({ new_status: "invited", changed_by });
  const next = await inviteToFile("--first", "2");
  expect(stderr).not.toContain(next);
  expect(await readFile(file("list.csv"), "utf8")).toBe(listOf(2, 3));
  const [named] = await database.query("SELECT invitation FROM earlyaccess WHERE name = 'Person 3'");
  expect(named).toEqual({ invitation: next });
});

it("invite fails and writes no file if nobody is waiting", async () => {
  const stderr = "Nobody was invited: no waiting entry matches. Nothing was written.\n";
  expect(await invite("--first", "9", "--out", file("list.csv"))).toEqual({ code: 1, stdout: "", stderr });
  await expect(stat(file("list.csv"))).rejects.toMatchObject({ code: "ENOENT" });
});

it("invite leaves out flagged people, and all who are not waiting", async () => {
  for (const flag of ["suspected_spam", "disposable_email", "unusual_volume"]) {
    await add(flag, `${flag}@example.com`, { [flag]: true });
  }
  for (const status of ["invited", "joined", "left"]) await add(status, `${status}@example.com`, { status });
  await add("Ada", "ada@example.com");
  await inviteToFile("--first", "9");
  expect(await database.query("SELECT name FROM earlyaccess WHERE invitation IS NOT NULL")).toEqual([{ name: "Ada" }]);
});

it("invite chooses by source and by confirmation, and --dry-run counts and changes nothing", async () => {
  const at = (day: number) => ({ created_at: `2026-01-0${day}T00:00:00Z` });
  const confirmed_at = "2026-02-01T00:00:00Z";
  await add("Campaign", "a@example.com", { ...at(1), confirmed_at, utm_source: "news", referrer_host: "example.org" });
  await add("Link", "b@example.com", { ...at(2), confirmed_at, utm_source: "", referrer_host: "example.org" });
  await add("Direct", "c@example.com", { ...at(3), referrer_host: "" });
  await add("Late link", "d@example.com", { ...at(4), referrer_host: "example.org" });
  const stdout = "Would invite 1 person; 2 match.\n";
  const dryRun = await invite("--first", "1", "--dry-run", "--source", "example.org", "--out", file("list.csv"));
  expect(dryRun).toEqual({ code: 0, stdout, stderr: "" });
  const take = async (...args: string[]) => {
    await inviteToFile("--first", "9", ...args);
    const names = await invited();
    await database.query("UPDATE earlyaccess SET status = 'waiting', invitation = NULL");
    return names;
  };
  expect(await take("--source", "news")).toEqual(["Campaign"]);
  expect(await take("--source", "example.org")).toEqual(["Link", "Late link"]);
  expect(await take("--source", "direct")).toEqual(["Direct"]);
  expect(await take("--confirmed")).toEqual(["Campaign", "Link"]);
});

it.each([
  ["exists already", "list.csv", /list\.csv exists already\. Nothing was changed\.\n$/],
  ["is in a missing folder", "missing/list.csv", /list\.csv\.part cannot be written: ENOENT\. In a container, /],
])("invite marks nobody if the file %s", async (_, name, message) => {
  await addPeople(2);
  await writeFile(file("list.csv"), "as it was");
  const result = await invite("--first", "2", "--out", file(name));
  expect(result).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(message) });
  expect(await invited()).toEqual([]);
  expect(await readFile(file("list.csv"), "utf8")).toBe("as it was");
});

it("invite --show writes the list of an invitation again, without people who are no longer invited", async () => {
  await addPeople(4);
  const invitation = await inviteToFile("--first", "3");
  await database.query("UPDATE earlyaccess SET status = 'left' WHERE name = 'Person 1'");
  expect(await invite("--show", invitation)).toEqual({ code: 0, stdout: listOf(0, 2), stderr: "" });
  expect(await invite("--show", invitation, "--out", file("again.csv"))).toMatchObject({ code: 0, stderr: "" });
  expect(await readFile(file("again.csv"), "utf8")).toBe(listOf(0, 2));
});

it("invite --undo makes those waiting again who are still invited", async () => {
  await addPeople(4);
  const invitation = await inviteToFile("--first", "3");
  await database.query("UPDATE earlyaccess SET status = 'joined' WHERE name = 'Person 1'");
  const stdout = "Made 2 people waiting again.\n";
  expect(await invite("--undo", invitation)).toEqual({ code: 0, stdout, stderr: "" });
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

it("invite --list counts the people of each invitation, the newest first", async () => {
  expect(await invite("--list")).toEqual({ code: 0, stdout: "There are no invitations.\n", stderr: "" });
  await addPeople(4);
  const first = await inviteToFile("--first", "3");
  await database.query("UPDATE earlyaccess SET status = 'joined' WHERE name = 'Person 1'");
  const second = await inviteToFile("--first", "3");
  const stdout = `${second}  1 person, 1 still invited, 0 joined\n${first}  3 people, 2 still invited, 1 joined\n`;
  expect(await invite("--list")).toEqual({ code: 0, stdout, stderr: "" });
});

it("invite --undo and --show of an unknown invitation exit with 1", async () => {
  const stderr = 'Nobody of the invitation "none" is still invited. See: waitlist invite --list\n';
  expect(await invite("--undo", "none")).toEqual({ code: 1, stdout: "", stderr });
  expect(await invite("--show", "none")).toMatchObject({ code: 1, stderr });
});

it.each([
  ["a call without a choice", [], /^error: name --first N, --list, --show or --undo INVITATION\n/],
  ["--first 0", ["--first", "0"], / is invalid\. Name a whole number from 1, for example 100\.\n/],
  ["--undo x --dry-run", ["--undo", "x", "--dry-run"], / cannot be used with /],
  [
    "--undo x --first 1",
    ["--undo", "x", "--first", "1"],
    /^error: option '--first <N>' cannot be used with option '--undo <INVITATION>'\n/,
  ],
])("invite refuses %s with exit code 2", async (_, args, message) => {
  expect(await invite(...args)).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(message) });
});

it("invite, export and show work with the connection of an admin, whose name the status history has", async () => {
  await migrate({ ...database, adminUrl: database.adminRoleUrl });
  await addPeople(2);
  const env = { DATABASE_OWNER_URL: database.adminRoleUrl };
  const { code, stderr } = await waitlist(["invite", "--first", "1", "--out", file("list.csv")], env);
  expect(code).toBe(0);
  expect(await latestChange()).toMatchObject({ changed_by: new URL(database.adminRoleUrl).username });
  const [, invitation = ""] = / as invitation (\S+)\./.exec(stderr) ?? [];
  for (const args of [["invite", "--undo", invitation], ["export"], ["show", "person0@example.com"]]) {
    expect(await waitlist(args, env)).toMatchObject({ code: 0, stderr: "" });
  }
});
