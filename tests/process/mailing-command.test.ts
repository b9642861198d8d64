// The command mail: its refusals, its preview, a test mail, the list, and what show, doctor and mail say of a database without mailings.
import { expect, it } from "vitest";
import { mailingEnd } from "../../client/shared/content.ts";
import { createTestDatabase } from "../support/database.ts";
import { parseMail } from "../support/mail-server.ts";
import { createMailingFixture, letter } from "../support/mailing.ts";
import { runWaitlist } from "../support/waitlist-fixture.ts";
import { startWorker } from "../support/worker.ts";

const fixture = await createMailingFixture();
const { query, waitlist, addPeople, send, settled, write } = fixture;
const mail = async (...args: string[]) => waitlist(["mail", "launch", await write(letter), ...args]);

it("a file that is no mailing is refused in one sentence before a database is opened", async () => {
  const nowhere = "postgresql://owner:secret@127.0.0.1:1/nowhere";
  const env = { DATABASE_URL: nowhere, DATABASE_OWNER_URL: nowhere };
  const stderr = expect.stringMatching(/^Line 1 must be "Subject: ".*\n$/) as string;
  expect(await waitlist(["mail", "launch", await write("We are open")], env)).toEqual({ code: 1, stdout: "", stderr });
  expect((await waitlist(["mail", "launch", "/no/such/file"], env)).stderr).toContain("cannot be read: ENOENT");
});

const invalid: [args: string[], message: string][] = [
  [[], "name NAME and FILE, --list or --stop NAME"],
  [["launch"], "name NAME and FILE"],
  [["Launch", "-"], "Use 1 to 40 of a-z, 0-9 and -"],
  [["x".repeat(41), "-"], "Use 1 to 40 of a-z, 0-9 and -"],
  [["launch", "-", "--send", "-1"], "Name a whole number from 0 to"],
  [["launch", "-", "--send", "1.5"], "Name a whole number from 0 to"],
  [["launch", "-", "--send", "1", "--per-hour", "0"], "Name a whole number from 1 to 3,600,000, for"],
  [["launch", "-", "--per-hour", "3600001"], "Name a whole number from 1 to 3,600,000, for"],
  [["launch", "-", "--send", "1", "--test", "a@b.co"], "cannot be used with option"],
  [["launch", "-", "--list"], "--list and --stop take neither NAME nor FILE"],
  [["--list", "--stop", "launch"], "cannot be used with option"],
  [["--stop", "launch", "--send", "1"], "cannot be used with option"],
];

it("mail refuses an invalid command line", async () => {
  for (const [args, message] of invalid) {
    const stderr = expect.stringContaining(message) as string;
    expect(await waitlist(["mail", ...args])).toMatchObject({ code: 2, stderr });
  }
});

const missing: [env: Record<string, string>, names: string][] = [
  [{ CONTROLLER: "" }, "CONTROLLER"],
  [{ CONTACT_EMAIL: "" }, "CONTACT_EMAIL"],
  [{ SMTP_URL: "" }, "SMTP_URL"],
  [{ MAIL_FROM: "", SMTP_URL: "" }, "MAIL_FROM, SMTP_URL"],
  [{ PUBLIC_URL: "http://perennial.example" }, "PUBLIC_URL with https"],
];

it("a mailing needs its settings", async () => {
  for (const [env, names] of missing) {
    for (const option of [[], ["--send", "1"], ["--test", "ada@example.com"]]) {
      const message = `A mailing needs settings that are missing: ${names}. See docs/launch.md.\n`;
      expect(await waitlist(["mail", "launch", await write(letter), ...option], env)).toEqual({
        code: 1,
        stdout: "",
        stderr: message,
      });
    }
  }
});

it("without an option, mail sends nothing, and prints who can get it, the text and how long it takes", async () => {
  await addPeople(400);
  await addPeople(1200, { confirmed_at: null, imported: false }, 1000);
  await addPeople(2, { confirmed_at: null }, 3000);
  const { code, stdout, stderr } = await mail();
  expect([code, stderr]).toEqual([0, ""]);
  const [state, text, end] = stdout.split(/\n(?=Subject: )|(?<=example\n)\n(?=Nothing)/);
  expect(state).toBe(
    `400 people can get it: first person0@example.com, person1@example.com, person2@example.com.
1,200 unconfirmed: left out. --unconfirmed adds them. retry --since asks those who never had a mail.
2 imported: left out. --imported adds them.
At 200 an hour, 400 a day: 2.0 hours.
`,
  );
  expect(text).toMatch(/^Subject: We are open\n\nHi there,\n\nwe are open: .*\n\n/);
  const leave = "https://perennial.example/leave?token=…";
  expect(text).toContain(`\n\n${mailingEnd.reason}\n\n${mailingEnd.leave}:\n${leave}\n\n-- \n`);
  expect(end).toBe("Nothing was sent. To send it: --send 400\n");
  const all = (await mail("--unconfirmed", "--imported")).stdout;
  expect(all).toMatch(/^1,602 people can get it: .*\n(?:.*\n)+Nothing was sent\. To send it: --send 1602\n$/);
  expect((await mail("--unconfirmed", "--per-hour", "10")).stdout).toMatch(
    /^1,600 people can get it: .*\n2 imported: left out\. .*\nAt 10 an hour, 240 a day: 6\.7 days\.\n(?:.*\n)+Nothing was sent\. To send it: --send 1600\n$/,
  );
  expect(await query("SELECT FROM earlyaccess_kept.mailings")).toEqual([]);
  expect(fixture.server.recipients).toEqual([]);
  await query("DELETE FROM earlyaccess");
  expect((await mail()).stdout).toMatch(/^0 people can get it\.\n(?:.*\n)+Nothing was sent\. Nobody can get it\.\n$/);
});

it("mail --test sends it to one address, with a link of no entry and another Message-ID each time", async () => {
  await addPeople(1);
  for (const _ of ["one", "two"]) {
    expect(await mail("--test", "Ada@example.com")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^ok {7}Test mail: the server answered 250 .*\n {9}Message-ID: <\S+>\n$/) as string,
    });
  }
  const [first, second] = fixture.server.mails.map(({ raw }) => parseMail(raw));
  expect(fixture.server.recipients).toEqual(["ada@example.com", "ada@example.com"]);
  expect(first?.headers.subject).toBe("Test: We are open");
  expect(first?.text).toMatch(/leave\?token=[\da-f]{32}\n/);
  expect(first?.headers["message-id"]).not.toBe(second?.headers["message-id"]);
  expect(await query("SELECT FROM earlyaccess_kept.mailing_recipients")).toEqual([]);
  for (const step of ["sender", "data"] as const) {
    fixture.server.fail(step, "554 5.7.1 Spam");
    expect(await mail("--test", "ada@example.com")).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^problem {2}Test mail: 554 5\.7\.1 Spam <.*>\n$/) as string,
    });
  }
  expect((await mail("--test", "ada")).stderr).toContain('--test is "ada" but must be an email address.');
});

it("--send says that no worker runs, --list counts what became of each mailing, and --stop refuses names that nobody waits for", async () => {
  expect((await waitlist(["mail", "--list"])).stdout).toBe("There are no mailings.\n");
  await addPeople(4);
  const sent = await send(2, "launch", letter, ["--per-hour", "1"]);
  expect(sent).toMatch(/^Added 2 people\. 2 people wait; .*\nNo worker runs: it waits\.\n$/);
  const [, day = "", time = ""] = /the last mail is sent at (\S+) (\S+) UTC or later/.exec(sent) ?? [];
  expect(Math.abs(Date.parse(`${day}T${time}Z`) - Date.now() - 7_200_000)).toBeLessThan(120_000);
  expect((await mail()).stdout).toContain("\nAt 1 an hour, ");
  await query("UPDATE earlyaccess_kept.mailings SET active_at = NULL, reply = '451 Later'"); // It stopped.
  expect(await send(1)).toMatch(/^Added 1 person\. 3 people wait; /);
  expect((await waitlist(["mail", "--list"])).stdout).toMatch(/3 people wait: until \S+ \S+ UTC or later\.\n$/);
  expect((await waitlist(["show", "person2@example.com"])).stdout).toMatch(/^The mailing launch waits\.$/m);
  await startWorker(fixture.settings());
  await settled({ sent: 3 });
  await query(
    "DELETE FROM earlyaccess WHERE email = 'person0@example.com'; UPDATE earlyaccess SET status = 'left' WHERE email = 'person1@example.com'",
  );
  expect((await waitlist(["mail", "--list"])).stdout).toBe(
    "launch  We are open\n  sent 3 (your mail server took it), 2 of them no longer on the list; refused 0, unknown 0, skipped 0; nobody waits.\n",
  );
  expect(await waitlist(["mail", "--stop", "other"])).toMatchObject({
    code: 1,
    stderr: "There is no mailing other. See: waitlist mail --list\n",
  });
  const json = JSON.parse((await waitlist(["show", "person2@example.com", "--format", "json"])).stdout) as object[];
  expect(json).toMatchObject([
    { mailings: [{ name: "launch", outcome: "sent", tried_at: expect.any(String) as string }] },
  ]);
  expect((await waitlist(["show", "person2@example.com"])).stdout).toMatch(/^The mailing launch was sent at \S+\.$/m);
  expect((await waitlist(["show", "person3@example.com"])).stdout).not.toContain("mailing");
});

it("a worker without CONTROLLER marks nobody, and its job says why", async () => {
  await addPeople(2);
  await send(2);
  await fixture.startWorker();
  await expect
    .poll(async () => (await query("SELECT last_error FROM graphile_worker.jobs"))[0]?.last_error, { timeout: 20_000 })
    .toBe("A mailing needs settings that are missing: CONTROLLER, CONTACT_EMAIL. See docs/launch.md.");
  expect(await fixture.outcomes()).toEqual({ waiting: 2 });
});

it("a database without mailings says so, and show and doctor work", async () => {
  const site = await createTestDatabase();
  await site.query(
    "INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'A', 'ada@example.com', 'C')",
  );
  const run = (...args: string[]) => runWaitlist(site, args, { ...fixture.settings(), DATABASE_URL: site.webUrl });
  for (const args of [
    ["mail", "launch", await write(letter)],
    ["mail", "launch", await write(letter), "--send", "1"],
    ["mail", "--list"],
    ["mail", "--stop", "launch"],
  ]) {
    expect(await run(...args)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Confirmation mails are not set up in this database\. Migrate: /) as string,
    });
  }
  const { code, stdout } = await runWaitlist(site, ["show", "ada@example.com"]);
  expect([code, stdout]).toEqual([0, expect.not.stringContaining("mailing")]);
  expect((await runWaitlist(site, ["doctor"])).stdout).not.toContain("Mailings");
});
