// waitlist invite: who is chosen, the list, and the invitations.
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { beforeEach, expect, it } from "vitest";
import { migrate } from "../../server/database/migrate.ts";
import { createWaitlistFixture, insertEntries } from "../support/waitlist-fixture.ts";

const { database, file, waitlist, add } = createWaitlistFixture();

beforeEach(async () => {
  await database.query("TRUNCATE earlyaccess");
  await rm(file("list.csv"), { force: true });
});

const invite = (...args: string[]) => waitlist(["invite", ...args]);
const invitationName = /\d{4}-\d\d-\d\d-\d{4}-\d+/;

/** Adds people who signed up one after the other. */
const addPeople = (count: number) =>
  insertEntries(
    database,
    Array.from({ length: count }, (_, i) => ({
      name: `Person ${i}`,
      email: `person${i}@example.com`,
      company: "Engines",
      created_at: new Date(Date.UTC(2026, 0, 1, 0, 0, i)),
    })),
  );

/** Invites into list.csv, and returns the name of the invitation. */
async function inviteToFile(...args: string[]): Promise<string> {
  await rm(file("list.csv"), { force: true });
  const { code, stdout, stderr } = await invite(...args, "--out", file("list.csv"));
  expect([code, stderr]).toEqual([0, ""]);
  return invitationName.exec(stdout)?.[0] as string;
}

const invited = async () =>
  (await database.query("SELECT name FROM earlyaccess WHERE status = 'invited' ORDER BY created_at, id")).map(
    ({ name }) => name,
  );

const changes = (limit: number) =>
  database.query(
    "SELECT old_status, new_status, changed_by FROM earlyaccess_status_changes ORDER BY id DESC LIMIT $1",
    [limit],
  );

it("invite takes the oldest people, writes their list, names the invitation, and leaves a status history", async () => {
  await addPeople(5);
  const { code, stdout, stderr } = await invite("--first", "2", "--out", file("list.csv"));
  expect([code, stderr]).toEqual([0, ""]);
  const [invitation] = invitationName.exec(stdout) ?? [];
  expect(stdout).toBe(`Invited 2 people as invitation ${invitation}.\nWrote ${file("list.csv")}.\n`);
  const list =
    "name,email,company,job_title\nPerson 0,person0@example.com,Engines,\nPerson 1,person1@example.com,Engines,\n";
  expect(await readFile(file("list.csv"), "utf8")).toBe(list);
  expect((await stat(file("list.csv"))).mode & 0o777).toBe(0o600);
  expect(
    await database.query("SELECT name, invitation FROM earlyaccess WHERE status = 'invited' ORDER BY name"),
  ).toEqual([
    { name: "Person 0", invitation },
    { name: "Person 1", invitation },
  ]);
  const change = { old_status: "waiting", new_status: "invited", changed_by: new URL(database.ownerUrl).username };
  expect(await changes(2)).toEqual([change, change]);
});

it("invites the next people into another invitation", async () => {
  await addPeople(5);
  const invitations = [await inviteToFile("--first", "2"), await inviteToFile("--first", "2")];
  expect(new Set(invitations).size).toBe(2);
  expect(await readFile(file("list.csv"), "utf8")).toMatch(/\nPerson 2,.*\nPerson 3,.*\n$/);
  expect(await invited()).toEqual(["Person 0", "Person 1", "Person 2", "Person 3"]);
});

it("invite fails and writes no file if nobody is waiting", async () => {
  const stderr = "Nobody was invited: no waiting entry matches. Nothing was written.\n";
  expect(await invite("--first", "9", "--out", file("list.csv"))).toEqual({ code: 1, stdout: "", stderr });
  await expect(stat(file("list.csv"))).rejects.toMatchObject({ code: "ENOENT" });
  expect(await invite("--first", "9")).toEqual({ code: 1, stdout: "", stderr });
});

it("invite leaves out flagged people, and all who are not waiting", async () => {
  await add("Spam", "spam@example.com", { suspected_spam: true });
  await add("Disposable", "disposable@example.com", { disposable_email: true });
  await add("Volume", "volume@example.com", { unusual_volume: true });
  for (const status of ["invited", "joined", "left"]) await add(status, `${status}@example.com`, { status });
  await add("Ada", "ada@example.com");
  await inviteToFile("--first", "9");
  expect(await database.query("SELECT name FROM earlyaccess WHERE invitation IS NOT NULL")).toEqual([{ name: "Ada" }]);
});

it("invite chooses by source and by confirmation", async () => {
  const at = (day: number) => ({ created_at: `2026-01-0${day}T00:00:00Z` });
  const confirmed = { confirmed_at: "2026-02-01T00:00:00Z" };
  await add("Campaign", "a@example.com", { ...at(1), ...confirmed, utm_source: "news", referrer_host: "example.org" });
  await add("Link", "b@example.com", { ...at(2), ...confirmed, referrer_host: "example.org" });
  await add("Direct", "c@example.com", at(3));
  await add("Late link", "d@example.com", { ...at(4), referrer_host: "example.org" });
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
  expect(await take("--confirmed", "--source", "example.org")).toEqual(["Link"]);
});

it("invite --dry-run counts, and changes nothing", async () => {
  await addPeople(3);
  const { code, stdout, stderr } = await invite("--first", "2", "--dry-run", "--out", file("list.csv"));
  expect([code, stdout, stderr]).toEqual([0, "Would invite 2 people; 3 match.\n", ""]);
  expect(await invited()).toEqual([]);
  await expect(stat(file("list.csv"))).rejects.toMatchObject({ code: "ENOENT" });
});

it.each([
  ["exists already", "list.csv", /list\.csv cannot be written: it exists already\. Nothing was changed\.\n$/],
  ["has no name", undefined, /^ cannot be written: ENOENT\. .*\. Nothing was changed\.\n$/],
  ["is in a missing folder", "missing/list.csv", /list\.csv cannot be written: ENOENT\. .*\. Nothing was changed\.\n$/],
])("invite marks nobody if the file %s", async (_, name, message) => {
  await addPeople(2);
  await writeFile(file("list.csv"), "as it was");
  const result = await invite("--first", "2", "--out", name ? file(name) : "");
  expect(result).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(message) });
  expect(await invited()).toEqual([]);
  expect(await readFile(file("list.csv"), "utf8")).toBe("as it was");
});

it("invite --show writes the list of an invitation again, without people who are no longer invited", async () => {
  await addPeople(4);
  const invitation = await inviteToFile("--first", "3");
  await database.query("UPDATE earlyaccess SET status = 'left' WHERE name = 'Person 1'");
  const list =
    "name,email,company,job_title\nPerson 0,person0@example.com,Engines,\nPerson 2,person2@example.com,Engines,\n";
  expect(await invite("--show", invitation)).toEqual({ code: 0, stdout: list, stderr: "" });
  const again = file("again.csv");
  expect(await invite("--show", invitation, "--out", again)).toEqual({
    code: 0,
    stdout: `Wrote ${again}.\n`,
    stderr: "",
  });
  expect(await readFile(again, "utf8")).toBe(list);
});

it("invite --undo makes those waiting again who are still invited", async () => {
  await addPeople(4);
  const invitation = await inviteToFile("--first", "3");
  await database.query("UPDATE earlyaccess SET status = 'joined' WHERE name = 'Person 1'");
  const stdout = "Made 2 people waiting again. 1 person of the invitation had another status already.\n";
  expect(await invite("--undo", invitation)).toEqual({ code: 0, stdout, stderr: "" });
  expect(await database.query("SELECT status, invitation FROM earlyaccess ORDER BY name")).toEqual([
    { status: "waiting", invitation: null },
    { status: "joined", invitation },
    { status: "waiting", invitation: null },
    { status: "waiting", invitation: null },
  ]);
  expect(await changes(1)).toMatchObject([{ old_status: "invited", new_status: "waiting" }]);
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
  const stderr = 'There is no invitation "none". See: waitlist invite --list\n';
  expect(await invite("--undo", "none")).toEqual({ code: 1, stdout: "", stderr });
  expect(await invite("--show", "none", "--out", file("none.csv"))).toMatchObject({ code: 1, stdout: "" });
  await expect(stat(file("none.csv"))).rejects.toMatchObject({ code: "ENOENT" });
});

it.each([
  [[], /^invite needs --first N, --list, --show INVITATION or --undo INVITATION\.\n$/],
  [["--source", "x"], /^invite needs --first N, /],
  [["--first", "0"], /^--first is "0" but must be a whole number from 1, for example 100\.\n$/],
  [["--first", "1.5"], /^--first is "1\.5" but must be /],
  [["--first", "1e3"], /^--first is "1e3" but must be /],
  [["--first", "9999999999"], /^--first is "9999999999" but must be /],
  [["--first", "1", "--list"], /^--list cannot be combined with --first\.\n$/],
  [["--list", "--out", "x"], /^--list cannot be combined with --out\.\n$/],
  [["--undo", "x", "--dry-run"], /^--undo cannot be combined with --dry-run\.\n$/],
  [["--show", "x", "--undo", "x"], /^--show cannot be combined with --undo\.\n$/],
])("invite refuses %j with exit code 2", async (args, message) => {
  expect(await invite(...args)).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(message) });
});

it("invite works with the connection of an admin, whose name the trace has", async () => {
  await migrate({ ...database, adminUrl: database.adminRoleUrl });
  await addPeople(2);
  const env = { DATABASE_OWNER_URL: database.adminRoleUrl };
  const { code, stdout, stderr } = await waitlist(["invite", "--first", "1", "--out", file("list.csv")], env);
  expect([code, stderr]).toEqual([0, ""]);
  expect(await changes(1)).toMatchObject([{ changed_by: new URL(database.adminRoleUrl).username }]);
  const [invitation = ""] = invitationName.exec(stdout) ?? [];
  expect(await waitlist(["invite", "--undo", invitation], env)).toMatchObject({ code: 0, stderr: "" });
  expect(await database.query("SELECT FROM earlyaccess WHERE invitation IS NOT NULL")).toEqual([]);
  for (const args of [["export"], ["show", "person0@example.com"]]) {
    expect(await waitlist(args, env)).toMatchObject({ code: 0, stderr: "" });
  }
});
