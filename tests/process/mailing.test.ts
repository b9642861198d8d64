// Mailings: from the file through the worker to a real SMTP server, to each person once, and to nobody who left.
import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import { daysWithoutMail } from "../../client/shared/promised-times.ts";
import { homeSql } from "../../server/database/kept-schema.ts";
import { hashToken } from "../../server/models/entry-tokens.ts";
import * as delivery from "../../server/models/operators/mailing-delivery.ts";
import { parseMail } from "../support/mail-server.ts";
import { createMailingFixture, letter } from "../support/mailing.ts";
import { queryAs, withClient } from "../support/postgres.ts";
import { until } from "../support/run.ts";
import { startWorker } from "../support/worker.ts";

const fixture = await createMailingFixture();
const { query, waitlist, addPeople, send, settled, outcomes, received } = fixture;
const start = () => startWorker(fixture.settings());
const leave = (token = "") =>
  queryAs(fixture.database.webUrl, "SELECT earlyaccess_leave($1) AS left", [hashToken(token)]);
const tokens = () => fixture.server.mails.map(({ raw }) => /leave\?token=(\w+)\n/.exec(parseMail(raw).text)?.[1]);
const recipients = () => fixture.server.mails.map(({ to }) => to);

it("a mailing arrives as plain text and HTML, with the headers that receivers ask for and without anything that a person typed", async () => {
  await addPeople(1, { name: "Eve", company: "Evil", job_title: "Evil" });
  await startWorker({ ...fixture.settings(), MAIL_FROM: "Perennial <hello@mail.example>" });
  await send(1, "launch", `${letter}\n${"Привет ".repeat(100)}\n`);
  await settled({ sent: 1 });
  const [{ client, raw } = { client: "", raw: "" }] = fixture.server.mails;
  expect(raw).not.toMatch(/^Content-Transfer-Encoding: base64/im);
  const { headers, text, html } = parseMail(raw);
  const link = `https://perennial.example/leave?token=${tokens()[0]}`;
  expect({ client, ...headers }).toMatchObject({
    client: "perennial.example",
    from: "Perennial <hello@mail.example>",
    to: "person0@example.com",
    subject: "We are open",
    "list-unsubscribe": `<${link}>`,
    "list-unsubscribe-post": "List-Unsubscribe=One-Click",
    "auto-submitted": "auto-generated",
    "x-auto-response-suppress": "OOF, AutoReply",
    "message-id": expect.stringMatching(/^<[\da-f]{32}@mail\.example>$/) as string,
  });
  for (const part of [text, html]) {
    expect(part).toContain("Hi there,");
    expect(part).toContain("1 Garden Way");
    expect(part).toContain(link);
    expect(part).not.toMatch(/\bev[ei]l?\b|person0/i);
  }
  expect(text.indexOf(link)).toBeLessThan(text.indexOf("\n-- \n"));
  expect(
    await queryAs(fixture.database.webUrl, "SELECT earlyaccess_confirm($1) AS done", [hashToken(tokens()[0] ?? "")]),
  ).toEqual([{ done: false }]);
  expect(await leave(tokens()[0])).toEqual([{ left: true }]);
  expect(await query("SELECT FROM earlyaccess")).toEqual([]);
});

it("each person gets a mailing once, the oldest first, and a later send adds the next ones; another mailing gets the same people", async () => {
  await addPeople(5);
  await start();
  expect(await send(2)).toMatch(
    /^Added 2 people\. 2 people wait; the last mail is sent at \d{4}-\d\d-\d\d \d\d:\d\d UTC or later\.\n$/,
  );
  await settled({ sent: 2 });
  await send(3);
  await settled({ sent: 5 });
  expect(recipients()).toEqual([0, 1, 2, 3, 4].map((i) => `person${i}@example.com`));
  expect(await query("SELECT DISTINCT place FROM earlyaccess_kept.mailing_recipients ORDER BY place")).toHaveLength(5);
  const longest = "note-2".padEnd(40, "x");
  await send(5, longest);
  await settled({ sent: 5 }, longest);
  expect([...received().values()]).toEqual([2, 2, 2, 2, 2]);
  const ids = fixture.server.mails.map(({ raw }) => parseMail(raw).headers["message-id"]);
  expect(new Set(ids).size).toBe(10);
});

it("neither the claim of a mail nor the look for a due one reads a whole table: otherwise, each mail would", async () => {
  await query(`SET earlyaccess.silent = 'on';
    INSERT INTO earlyaccess_kept.mailings (name, text, per_hour, active_at, home) VALUES ('a', '', 1, now(), ${homeSql});
    WITH entry AS (INSERT INTO earlyaccess (id, name, email, company, confirmed_at, imported)
      SELECT gen_random_uuid(), 'A', i || '@example.com', 'C', now(), true FROM generate_series(1, 100000) i RETURNING id, email)
    INSERT INTO earlyaccess_kept.mailing_recipients (name, entry_id, place, outcome, due_at, tries)
      SELECT 'a', id, i, CASE WHEN i <= 50000 THEN 'sent' END, CASE WHEN i > 50000 THEN now() + (i <= 50300)::int * interval '1 hour' END,
        (i BETWEEN 50001 AND 50300)::int FROM entry, LATERAL (SELECT split_part(email, '@', 1)::int AS i) AS number;
    ANALYZE earlyaccess, earlyaccess_kept.mailing_recipients`);
  const rows = await withClient(fixture.database.ownerUrl, async (client) => {
    await client.query("BEGIN");
    const queue = client as unknown as delivery.Queue;
    const due = await delivery.findDueMailing(queue);
    expect(due).toMatchObject({ name: "a", waitMs: 0 });
    expect(await delivery.claimRecipient(queue, due as delivery.DueMailing, hashToken("a"))).toMatchObject({
      email: "50301@example.com",
    });
    const read =
      "SELECT sum(seq_tup_read)::int AS whole, sum(idx_tup_fetch)::int AS some FROM pg_stat_xact_user_tables";
    return (
      await client.query<{ whole: number; some: number }>(
        `${read} WHERE relname IN ('earlyaccess', 'mailing_recipients')`,
      )
    ).rows;
  });
  expect(rows[0]?.whole).toBe(0);
  expect(rows[0]?.some).toBeLessThan(1_000);
});

const people = [
  ["confirmed", {}],
  ["invited", { status: "invited" }],
  ["invited and confirmed in two spellings", { status: "invited" }],
] as const;
const nobody = [
  ["unconfirmed", { confirmed_at: null, imported: false }],
  ["imported", { confirmed_at: null }],
  ["joined", { status: "joined" }],
  ["left", { status: "left" }],
  ["a bot", { suspected_spam: true }],
  ["refused", { mail_refusal: "550 5.1.1" }],
  ["refused without a code that names the address", { mail_refusal: "550 to RCPT TO" }],
] as const;

it("a mailing goes to those who confirmed and wait or were invited, and to others by an option", async () => {
  for (const [i, [, columns]] of [...people, ...nobody].entries()) await addPeople(1, columns, i);
  // Two spellings of one address, of which a sign-up stores the second.
  await query("UPDATE earlyaccess SET email = 'person2@münchen.example' WHERE email = 'person2@example.com'");
  await addPeople(1, { email: "person2@xn--mnchen-3ya.example" }, 2);
  await start();
  const preview = async (...options: string[]) =>
    /^(\d+) (?:people|person) can get it/.exec(
      (await waitlist(["mail", "preview", "launch", await fixture.write(letter), ...options])).stdout,
    )?.[1];
  expect([
    await preview(),
    await preview("--unconfirmed"),
    await preview("--imported"),
    await preview("--unconfirmed", "--imported"),
  ]).toEqual(["3", "4", "4", "5"]);
  await send(3);
  await settled({ sent: 3 });
  const sent = await query(
    `SELECT email FROM earlyaccess JOIN earlyaccess_kept.mailing_recipients ON entry_id = id ORDER BY place`,
  );
  expect(sent.map(({ email }) => email)).toEqual([
    "person0@example.com",
    "person1@example.com",
    "person2@xn--mnchen-3ya.example",
  ]);
  await send(2, "launch", letter, ["--unconfirmed", "--imported"]);
  const { stdout } = await waitlist(["mail", "preview", "launch", await fixture.write(letter)]);
  expect(stdout).toContain("At 3,600,000 an hour"); // As before.
  await settled({ sent: 5 });
  expect(recipients().slice(3)).toEqual(["person3@example.com", "person4@example.com"]);
  await query("UPDATE earlyaccess SET invitation = 'a' WHERE email = 'person1@example.com'");
  await send(1, "invited", letter, ["--invitation", "a"]);
  await settled({ sent: 1 }, "invited");
  expect(recipients().at(-1)).toBe("person1@example.com");
  const shown = (await waitlist(["show", "person1@example.com"])).stdout;
  expect(shown).toMatch(/^The mailing launch was .*\nThe mailing invited was /m); // The oldest first.
});

it.each<[what: string, change: () => Promise<unknown>]>([
  ["left by the link of the confirmation mail", () => leave("of the confirmation mail")],
  ["left by the link of an earlier mailing", () => leave("of an earlier mailing")],
  ["was erased", () => waitlist(["erase", "person0@example.com"])],
  ["was deleted in Studio", () => query("DELETE FROM earlyaccess WHERE email = 'person0@example.com'")],
  ["was flagged", () => query("UPDATE earlyaccess SET suspected_spam = true WHERE email = 'person0@example.com'")],
  ["is marked as left", () => query("UPDATE earlyaccess SET status = 'left' WHERE email = 'person0@example.com'")],
  ["joined", () => waitlist(["joined", "person0@example.com"])],
  [
    "has another spelling now",
    () => query("UPDATE earlyaccess SET email = 'person0@example.com ' WHERE email = 'person0@example.com'"),
  ],
])("somebody who %s between send and the mail gets none, and the others do", async (_, change) => {
  await addPeople(2);
  await query(
    "UPDATE earlyaccess SET mail_tokens = ARRAY[$1::bytea], mailed_at = now() WHERE email = 'person0@example.com'",
    [hashToken("of the confirmation mail")],
  );
  await query(
    `INSERT INTO earlyaccess_kept.mailing_recipients (name, entry_id, place, outcome, due_at, token_hash)
     SELECT 'earlier', id, 1, 'sent', NULL, $1 FROM earlyaccess WHERE email = 'person0@example.com'`,
    [hashToken("of an earlier mailing")],
  );
  await send(2);
  await change();
  await start();
  await settled({ skipped: 1, sent: 1 });
  expect(recipients()).toEqual(["person1@example.com"]);
});

it("somebody who left and signed up again within the promised days gets none, and leaving keeps the address out of imports", async () => {
  await addPeople(1, { imported: false });
  await start();
  await send(1);
  await settled({ sent: 1 });
  expect(await leave(tokens()[0])).toEqual([{ left: true }]);
  const csv = await fixture.write("name,email,company\nAda,person0@example.com,Engines\n", "list.csv");
  expect((await waitlist(["import", csv])).stdout).toContain("1 erased");
  await addPeople(1, { confirmed_at: null, imported: false });
  await query(`UPDATE earlyaccess_kept.addresses SET left_at = left_at - interval '${daysWithoutMail - 1} days'`);
  await send(1, "note-2", letter, ["--unconfirmed"]);
  await settled({ skipped: 1 }, "note-2");
  expect((await waitlist(["mail", "list"])).stdout).toMatch(
    /^note-2 .*\n +sent 0 .* unknown 0, skipped 1; nobody waits\.\nlaunch .*\n +sent 1 .* skipped 0; /,
  );
  expect((await waitlist(["show", "person0@example.com"])).stdout).toMatch(
    /^The mailing note-2 was skipped at \S+\.$/m,
  );
  await query("UPDATE earlyaccess_kept.addresses SET left_at = left_at - interval '1 day'");
  await send(1, "note-2", letter, ["--unconfirmed"]); // Whoever was skipped can be added again.
  await settled({ sent: 1 }, "note-2");
});

it("a mailing goes on after its worker stopped between two mails, those who wait get a corrected text, and stop takes back the others, who can get it later", async () => {
  await addPeople(6);
  const worker = await start();
  fixture.server.fail("recipient", "hold", /^person0@/);
  await send(6);
  await until("the first mail is being sent", () => fixture.server.recipients.length === 1);
  const ended = worker.stop();
  fixture.server.fail("recipient", "hold", /^person3@/);
  await ended;
  await start();
  await until("the next worker sends three mails", () => fixture.server.recipients.length === 4);
  await send(0, "launch", letter.replaceAll("open", "ready"));
  fixture.server.fail("recipient", "hold", /^person5@/);
  await until("the last one is sent", () => fixture.server.recipients.length === 6);
  expect(await waitlist(["mail", "stop", "launch"])).toMatchObject({
    code: 1,
    stderr: "Nobody waits for launch. Nothing was stopped.\n",
  });
  fixture.server.fail();
  await settled({ sent: 6 });
  const subjects = fixture.server.mails.map(({ raw }) => parseMail(raw).headers.subject);
  expect(subjects).toEqual([...Array<string>(4).fill("We are open"), "We are ready", "We are ready"]);

  fixture.server.fail("recipient", "hold", /^person1@/);
  await send(4, "note-2");
  await until("one is sent", () => fixture.server.recipients.length === 8);
  expect((await waitlist(["mail", "stop", "note-2"])).stdout).toBe("Took back 2 people, who can get note-2 later.\n");
  fixture.server.fail();
  await settled({ sent: 2 }, "note-2");
  await send(4, "note-2");
  await settled({ sent: 6 }, "note-2");
  expect([...received().values()]).toEqual([2, 2, 2, 2, 2, 2]);
});

it("a send that is refused changes nothing, and two at once add nobody twice", async () => {
  await addPeople(4);
  const state = () => query("SELECT name, text, per_hour FROM earlyaccess_kept.mailings ORDER BY name");
  const file = await fixture.write(letter);
  const trySend = (name: string, count: number) => waitlist(["mail", "send", name, file, `${count}`]);
  expect(await trySend("launch", 5)).toMatchObject({
    code: 1,
    stderr: "Only 4 people can get it. Nothing was added.\n",
  });
  expect(await trySend("launch", 0)).toMatchObject({
    code: 1,
    stderr:
      "Nobody waits for launch. Nothing was stored. To add the 4 who can get it: waitlist mail send launch FILE 4\n",
  });
  expect(await state()).toEqual([]);
  await send(1, "launch", letter, []);
  const before = await state();
  expect(before).toEqual([{ name: "launch", text: letter, per_hour: 200 }]);
  const other = letter.replace("open", "ready");
  const refused = await waitlist(["mail", "send", "launch", await fixture.write(other), "4", "--per-hour", "100"]);
  expect(refused).toMatchObject({ code: 1, stderr: "Only 3 people can get it. Nothing was added.\n" });
  const under = await trySend("note-2", 1);
  expect(under.stderr).toMatch(
    /^launch is under way until \d{4}-\d\d-\d\d \d\d:\d\d UTC or later; waitlist mail stop launch ends it\. Nothing was added\.\n$/,
  );
  expect([await state(), await outcomes()]).toEqual([before, { waiting: 1 }]);
  await query("UPDATE earlyaccess_kept.mailings SET active_at = NULL"); // It stopped by itself.
  expect(await trySend("note-2", 1)).toMatchObject({ code: 0, stderr: "" });
  for (const name of ["launch", "note-2"]) await waitlist(["mail", "stop", name]);
  await query("DELETE FROM earlyaccess_kept.mailings");

  const spawn = (name: string) => fixture.spawnMail("send", name, file, "3");
  const results = await Promise.all([spawn("launch"), spawn("launch"), spawn("note-2"), spawn("note-2")]);
  expect(results.filter(({ code }) => code === 0)).toHaveLength(1);
  const rows = await query(
    "SELECT count(*)::int AS rows, count(DISTINCT entry_id)::int AS people FROM earlyaccess_kept.mailing_recipients",
  );
  expect(rows).toEqual([{ rows: 3, people: 3 }]);
});

it("eight workers at once take each person once", async () => {
  await addPeople(300);
  await send(300);
  const pool = new pg.Pool({ connectionString: fixture.database.workerUrl, max: 8 });
  onTestFinished(() => pool.end());
  const taken: string[] = [];
  const claimAll = async () => {
    for (let due = await delivery.findDueMailing(pool); due; due = await delivery.findDueMailing(pool)) {
      const person = await delivery.claimRecipient(pool, { ...due, waitMs: 0 }, hashToken(`${Math.random()}`));
      if (person?.email) taken.push(person.entryId);
    }
  };
  await Promise.all(Array.from({ length: 8 }, claimAll));
  expect([taken.length, new Set(taken).size]).toEqual([300, 300]);
});

it("two workers send a mail once, a later mailing goes on, and the link of the mail that arrived works, if the first loses its lock in the middle of it", async () => {
  await addPeople(3);
  fixture.server.fail("data", "hold");
  const first = await start();
  await send(3);
  await until("a mail is being sent", () => fixture.server.mails.length === 1);
  await fixture.database.asSuperuser(
    `SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database ON oid = database
     WHERE datname = current_database() AND locktype = 'advisory' AND objid = 4155220 AND granted`,
  );
  const second = await start();
  await until("the second worker works", () => second.log().includes("worker started"));
  await until("it sends the next mail", () => fixture.server.mails.length === 2);
  fixture.server.fail("data", "hold", /^person1@/);
  await first.stop(); // In the middle of the other's mail.
  fixture.server.fail();
  await settled({ sent: 3 });
  expect([...received().values()]).toEqual([1, 1, 1]);
  await send(3, "note-2");
  await settled({ sent: 3 }, "note-2");
  for (const token of tokens().slice(0, 3)) expect(await leave(token)).toEqual([{ left: true }]);
});

it("a wrong link, as docs/launch.md corrects it: those who had it get the correction, the others the corrected letter, and nobody both", async () => {
  await addPeople(45);
  await addPeople(5, { confirmed_at: null, imported: false, created_at: "2025-01-01T00:00:00Z" }, 1000);
  await start();
  fixture.server.fail("data", "hold", /^person18@/);
  await send(45, "launch", letter.replace("open", "WRONG"));
  await until("the middle is reached", () => fixture.server.mails.length === 19);
  expect((await waitlist(["mail", "stop", "launch"])).stdout).toBe("Took back 26 people, who can get launch later.\n");
  fixture.server.fail();
  await settled({ sent: 19 });
  await query("UPDATE earlyaccess SET confirmed_at = now() WHERE confirmed_at IS NULL");
  await send(19, "correction", letter.replace("open", "SORRY"), ["--sent", "launch", "--per-hour", "3600000"]);
  await settled({ sent: 19 }, "correction");
  expect((await waitlist(["mail", "send", "launch", await fixture.write(letter), "0"])).stderr).toBe(
    "Nobody waits for launch. Nothing was stored. To add the 31 who can get it: waitlist mail send launch FILE 31\n",
  );
  await send(31);
  await settled({ sent: 50 });
  const got = new Map<string, string[]>();
  for (const { to, raw } of fixture.server.mails) {
    got.set(to, [...(got.get(to) ?? []), parseMail(raw).headers.subject ?? ""]);
  }
  const histories = Array.from(got.values(), (subjects) => subjects.join());
  const count = (history: string) => histories.filter((one) => one === history).length;
  expect([count("We are WRONG,We are SORRY"), count("We are open"), got.size]).toEqual([19, 31, 50]);
});
