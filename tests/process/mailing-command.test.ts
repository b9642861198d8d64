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
const preview = async (...args: string[]) => waitlist(["mail", "preview", "launch", await write(letter), ...args]);
const test = async (address: string) => waitlist(["mail", "test", "launch", await write(letter), address]);

it("a file that is no mailing is refused in one sentence before a database is opened", async () => {
  const nowhere = "postgresql://owner:secret@127.0.0.1:1/nowhere";
  const env = { DATABASE_URL: nowhere, DATABASE_OWNER_URL: nowhere };
  const stderr = expect.stringMatching(/^Line 1 must be "Subject: ".*\n$/) as string;
  expect(await waitlist(["mail", "preview", "launch", await write("We are open")], env)).toEqual({
    code: 1,
    stdout: "",
    stderr,
  });
  expect((await waitlist(["mail", "preview", "launch", "/no/such/file"], env)).stderr).toContain(
    "cannot be read: ENOENT",
  );
});

const invalid: [args: string[], message: string][] = [
  [[], "Usage: waitlist mail"],
  [["launch", "-"], "unknown command 'launch'"],
  [["preview", "launch"], "missing required argument 'FILE'"],
  [["preview", "Launch", "-"], "Use 1 to 40 of a-z, 0-9 and -"],
  [["preview", "x".repeat(41), "-"], "Use 1 to 40 of a-z, 0-9 and -"],
  [["send", "launch", "-"], "missing required argument 'N'"],
  [["send", "launch", "-", "-1"], "Name a whole number from 0 to"],
  [["send", "launch", "-", "1.5"], "Name a whole number from 0 to"],
  [["send", "launch", "-", "1", "--per-hour", "0"], "Name a whole number from 1 to 3,600,000, for"],
  [["preview", "launch", "-", "--per-hour", "3600001"], "Name a whole number from 1 to 3,600,000, for"],
  [["send", "launch", "-", "1", "--sent", "note", "--imported"], "cannot be used with option"],
  [["test", "launch", "-"], "missing required argument 'ADDRESS'"],
  [["list", "launch"], "too many arguments"],
  [["stop"], "missing required argument 'NAME'"],
  [["people", "launch", "--outcome", "lost"], "Allowed choices are unknown, refused"],
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
    for (const [verb = "", ...more] of [["preview"], ["send", "1"], ["test", "ada@example.com"]]) {
      const message = `A mailing needs settings that are missing: ${names}. See docs/launch.md.\n`;
      expect(await waitlist(["mail", verb, "launch", await write(letter), ...more], env)).toEqual({
        code: 1,
        stdout: "",
        stderr: message,
      });
    }
  }
});

it("preview sends nothing, and prints what becomes of every entry, the text and how long it takes", async () => {
  await addPeople(400);
  await addPeople(1200, { confirmed_at: null, imported: false }, 1000);
  await addPeople(2, { confirmed_at: null }, 3000);
  await addPeople(3, { suspected_spam: true }, 4000);
  await addPeople(1, { mail_refusal: "550 5.1.1" }, 5000);
  await addPeople(1, { mail_refusal: "bounced" }, 5001);
  await addPeople(4, { status: "joined" }, 6000);
  await addPeople(1, { status: "left" }, 7000);
  await addPeople(1, { email: "ada@example.com " }, 8000);
  await addPeople(5, { invitation: "a", status: "invited" }, 9000);
  const { code, stdout, stderr } = await preview();
  expect([code, stderr]).toEqual([0, ""]);
  const [state, text, end] = stdout.split(/\n(?=Subject: )|(?<=example\n)\n(?=Nothing)/);
  expect(state).toBe(
    `405 people can get it: first person0@example.com, person1@example.com, person2@example.com.
1,200 unconfirmed: left out. --unconfirmed adds them. retry --since asks those who never had a mail.
2 imported: left out. --imported adds them.
3 flagged.
2 refused or bounced.
4 with the status joined.
1 with the status left.
1 with a spelling that no sign-up stores.
These are all 1,618 entries.
At 200 an hour, 405 a day: 2.0 hours.
`,
  );
  expect(text).toMatch(/^Subject: We are open\n\nHi there,\n\nwe are open: .*\n\n/);
  const leave = "https://perennial.example/leave?token=…";
  expect(text).toContain(`\n\n${mailingEnd.reason}\n\n${mailingEnd.leave}:\n${leave}\n\n-- \n`);
  expect(end).toBe("Nothing was sent. To send it: mail send launch FILE 405\n");
  const all = (await preview("--unconfirmed", "--imported")).stdout;
  expect(all).toMatch(
    /^1,607 people can get it: .*\n(?:.*\n)+Nothing was sent\. To send it: mail send launch FILE 1607 --unconfirmed --imported\n$/,
  );
  expect((await preview("--unconfirmed", "--per-hour", "10")).stdout).toMatch(
    /^1,605 people can get it: .*\n2 imported: left out\. .*\n(?:.*\n)+At 10 an hour, 240 a day: 6\.7 days\.\n(?:.*\n)+Nothing was sent\. To send it: mail send launch FILE 1605 --per-hour 10 --unconfirmed\n$/,
  );
  expect((await preview("--invitation", "a")).stdout).toMatch(
    /^5 people can get it: .*\n(?:.*\n)+1,603 not of the chosen people\.\n/,
  );
  const none = { code: 1, stdout: "", stderr: 'There is no invitation "b". See: waitlist invite --list\n' };
  expect(await preview("--invitation", "b")).toEqual(none);
  expect(await query("SELECT FROM earlyaccess_kept.mailings")).toEqual([]);
  expect(fixture.server.recipients).toEqual([]);
  await send(2, "launch", letter, ["--invitation", "a"]);
  expect((await preview("--invitation", "a")).stdout).toMatch(
    /^3 people can get it: .*\n(?:.*\n)+2 on this mailing already\.\n/,
  );
  await query("DELETE FROM earlyaccess");
  expect((await preview()).stdout).toMatch(
    /^0 people can get it\.\n(?:.*\n)+Nothing was sent\. Nobody can get it\.\n$/,
  );
});

it("preview warns of what readers see as it was typed", async () => {
  const warnings = async (text: string) =>
    (await waitlist(["mail", "preview", "launch", await write(`Subject: We are open\n\n${text}`)])).stdout.match(
      /^Warning: .*$/gm,
    );
  expect(await warnings("**New**: [try it](https://a.example), or http://a.example")).toEqual([
    "Warning: readers see ]( as you typed it.",
    "Warning: readers see ** as you typed it.",
    "Warning: readers see http:// as you typed it.",
  ]);
  expect(await warnings("Hi,\n\n[Try it](https://a.example/?from=http://b.example)\n\n2 * 3")).toBeNull();
});

it("mail test sends it to one address, with a link of no entry and another Message-ID each time", async () => {
  await addPeople(1);
  for (const _ of ["one", "two"]) {
    expect(await test("Ada@example.com")).toMatchObject({
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
    expect(await test("ada@example.com")).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^problem {2}Test mail: 554 5\.7\.1 Spam <.*>\n$/) as string,
    });
  }
  expect((await test("ada")).stderr).toContain('ADDRESS is "ada" but must be an email address.');
});

it("send says that no worker runs, list counts what became of each mailing, and stop refuses names that nobody waits for", async () => {
  expect((await waitlist(["mail", "list"])).stdout).toBe("There are no mailings.\n");
  await addPeople(4);
  const sent = await send(2, "launch", letter, ["--per-hour", "1"]);
  expect(sent).toMatch(/^Added 2 people\. 2 people wait; .*\nNo worker runs: it waits\.\n$/);
  const [, day = "", time = ""] = /the last mail is sent at (\S+) (\S+) UTC or later/.exec(sent) ?? [];
  expect(Math.abs(Date.parse(`${day}T${time}Z`) - Date.now() - 7_200_000)).toBeLessThan(120_000);
  expect((await preview()).stdout).toContain("\nAt 1 an hour, ");
  await query("UPDATE earlyaccess_kept.mailings SET active_at = NULL, reason = 'It failed'"); // It stopped.
  expect(await send(1)).toMatch(/^Added 1 person\. 3 people wait; /);
  expect((await waitlist(["mail", "list"])).stdout).toMatch(/3 people wait: nothing was sent in the last hour\.\n$/);
  expect((await waitlist(["show", "person2@example.com"])).stdout).toMatch(/^The mailing launch waits\.$/m);
  await startWorker(fixture.settings());
  await settled({ sent: 3 });
  await query(
    "DELETE FROM earlyaccess WHERE email = 'person0@example.com'; UPDATE earlyaccess SET status = 'left' WHERE email = 'person1@example.com'",
  );
  expect((await waitlist(["mail", "list"])).stdout).toBe(
    "launch  We are open\n  sent 3 (your mail server took it), 2 of them no longer on the list; refused 0, given up 0, unknown 0, skipped 0; nobody waits.\n",
  );
  expect(await waitlist(["mail", "stop", "other"])).toMatchObject({
    code: 1,
    stderr: "There is no mailing other. See: waitlist mail list\n",
  });
  const json = JSON.parse((await waitlist(["show", "person2@example.com", "--format", "json"])).stdout) as object;
  expect(json).toMatchObject({
    mailings: [{ name: "launch", outcome: "sent", tried_at: expect.any(String) as string }],
  });
  expect((await waitlist(["show", "person2@example.com"])).stdout).toMatch(/^The mailing launch was sent at \S+\.$/m);
  expect((await waitlist(["show", "person3@example.com"])).stdout).not.toContain("mailing");
});

it("a worker without CONTROLLER marks nobody, list and doctor name the setting at once, and the mailing goes on when it is set", async () => {
  await addPeople(2);
  await send(2);
  const worker = await fixture.startWorker();
  const state = () => query("SELECT reason FROM earlyaccess_kept.mailings WHERE failing_since IS NOT NULL");
  await expect
    .poll(state, { timeout: 20_000 })
    .toEqual([{ reason: "A mailing needs settings that are missing: CONTROLLER, CONTACT_EMAIL. See docs/launch.md." }]);
  expect(await fixture.outcomes()).toEqual({ waiting: 2 });
  const found =
    "2 people wait: nothing was sent in the last hour: A mailing needs settings that are missing: CONTROLLER, CONTACT_EMAIL.";
  expect((await waitlist(["mail", "list"])).stdout).toContain(found);
  expect((await waitlist(["doctor"])).stdout).toMatch(new RegExp(`^warning +Mailings: .*${found}`, "m"));
  await fixture.pass("25 hours");
  await expect
    .poll(async () => (await waitlist(["mail", "list"])).stdout, { timeout: 20_000 })
    .toContain(
      "it stopped: A mailing needs settings that are missing: CONTROLLER, CONTACT_EMAIL. See docs/launch.md; waitlist mail send launch FILE 0 goes on.\n",
    );
  await worker.stop();
  await startWorker(fixture.settings());
  await send(0);
  await settled({ sent: 2 });
});

it("people lists who got it, with the server's words, safe for a spreadsheet, and the deletion forgets the words about those who are gone", async () => {
  await addPeople(2);
  await addPeople(1, { email: "=cmd@example.com" }, 2);
  await send(3);
  fixture.server.fail("recipient", "550 5.1.1 Nobody", /person/);
  await startWorker(fixture.settings());
  await settled({ sent: 1, "550 5.1.1": 2 });
  const people = async (...args: string[]) =>
    (await waitlist(["mail", "people", "launch", ...args])).stdout.replaceAll(/,\d{4}-[^,]+Z,/g, ",T,");
  const reply = "Mail server error (RCPT TO): 550 5.1.1 Nobody …";
  const refused = [0, 1].map((i) => `person${i}@example.com,550 5.1.1,T,${reply}\n`).join("");
  const header = "email,outcome,tried_at,reply\n";
  expect(await people()).toBe(`${header}${refused}'=cmd@example.com,sent,T,\n`);
  expect(await people("--outcome", "refused")).toBe(header + refused);
  for (const outcome of ["unknown", "given-up", "waiting", "skipped"]) {
    expect(await people("--outcome", outcome)).toBe(header);
  }
  expect((await waitlist(["mail", "people", "other"])).stderr).toBe(
    "There is no mailing other. See: waitlist mail list\n",
  );
  // A compromised worker may write any outcome.
  await query("UPDATE earlyaccess_kept.mailing_recipients SET outcome = '=1+1' WHERE outcome = 'sent'");
  expect(await people()).toContain("'=cmd@example.com,'=1+1,T,\n");
  await query("DELETE FROM earlyaccess WHERE email = 'person0@example.com'");
  expect((await waitlist(["purge"], { RETENTION_MONTHS: "12" })).code).toBe(0);
  expect(await query("SELECT reply FROM earlyaccess_kept.mailing_recipients ORDER BY place")).toEqual([
    { reply: null },
    { reply },
    { reply: null },
  ]);
});

it("a correction reaches those who had or may have had the wrong letter, and nobody else", async () => {
  await addPeople(3);
  await addPeople(1, { confirmed_at: null, imported: false }, 3);
  await addPeople(2, {}, 4);
  await startWorker(fixture.settings());
  await send(4, "launch", letter, ["--unconfirmed", "--per-hour", "3600000"]);
  await settled({ sent: 4 });
  await query("UPDATE earlyaccess_kept.mailing_recipients SET outcome = 'unknown' WHERE place = 2");
  await query("UPDATE earlyaccess SET suspected_spam = true WHERE email = 'person2@example.com'");
  await addPeople(1, { created_at: "2025-01-01T00:00:00Z" }, 6); // Confirmed late, and is older than all.
  const before = fixture.server.recipients.length;
  expect((await waitlist(["mail", "preview", "correction", await write(letter), "--sent", "launch"])).stdout).toMatch(
    /^3 people can get it: first person0@example\.com, person1@example\.com, person3@example\.com\.\n1 flagged\.\n3 not of the chosen people\.\nThese are all 7 entries\.\n(?:.*\n)+Nothing was sent\. To send it: mail send correction FILE 3 --sent launch\n$/,
  );
  await send(3, "correction", letter, ["--sent", "launch", "--per-hour", "3600000"]);
  await settled({ sent: 3 }, "correction");
  expect(fixture.server.recipients.slice(before)).toEqual([
    "person0@example.com",
    "person1@example.com",
    "person3@example.com",
  ]);
  const unknown = await waitlist(["mail", "preview", "correction", await write(letter), "--sent", "other"]);
  expect(unknown.stderr).toBe("There is no mailing other. See: waitlist mail list\n");
});

it("a database without mailings says so, and show and doctor work", async () => {
  const site = await createTestDatabase();
  await site.query(
    "INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'A', 'ada@example.com', 'C')",
  );
  const run = (...args: string[]) => runWaitlist(site, args, { ...fixture.settings(), DATABASE_URL: site.webUrl });
  for (const args of [
    ["mail", "preview", "launch", await write(letter)],
    ["mail", "send", "launch", await write(letter), "1"],
    ["mail", "list"],
    ["mail", "stop", "launch"],
    ["mail", "people", "launch"],
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
