// Mailings and a mail server, worker or clock that fails: no mail twice, no burst, no confirmation mail that waits, and words that say why.
import { expect, it, onTestFinished, vi } from "vitest";
import { parseMail } from "../support/mail-server.ts";
import { createMailingFixture, letter } from "../support/mailing.ts";
import { until } from "../support/run.ts";
import { startWorker, startWorkerProcess } from "../support/worker.ts";

const fixture = await createMailingFixture();
const { query, waitlist, addPeople, send, settled, outcomes, received, pass, hastenMailing } = fixture;
const start = () => startWorker(fixture.settings());
const fail = (...args: Parameters<typeof fixture.server.fail>) => fixture.server.fail(...args);
const list = async () => (await waitlist(["mail", "list"])).stdout;
const doctor = async () => /^\w+ +Mailings: .*$/m.exec((await waitlist(["doctor"])).stdout)?.[0];
/** Resolves when the next mail may be sent in so many seconds. */
const paused = (least: number, most: number) =>
  until(`the mailing waits for ${least} to ${most} s`, async () => {
    const [wait] = await query(
      "SELECT extract(epoch FROM next_at - now())::int AS seconds FROM earlyaccess_kept.mailings",
    );
    const seconds = (wait?.seconds ?? 0) as number;
    return seconds >= least && seconds <= most;
  });
const rested = () => paused(580, 600);
const tried = () => fixture.server.recipients.length;
const stopped = () =>
  until(
    "the mailing stopped",
    async () => (await query("SELECT FROM earlyaccess_kept.mailings WHERE active_at IS NULL"))[0],
  );

/** Sends a mailing to new people, while the mail server fails. */
async function sendWhileFailing(people: number, ...failure: Parameters<typeof fail>): Promise<void> {
  await addPeople(people);
  fail(...failure);
  await start();
  await send(people);
}

it("a mailing that the server puts off rests for ten minutes, doctor says why, and it gets through to each once", async () => {
  await sendWhileFailing(5, "data", "451 4.7.1 Try again later");
  for (let attempt = 1; attempt <= 3; attempt++) {
    await rested();
    await settled({ waiting: 5 });
    expect(tried()).toBe(attempt);
    if (attempt < 3) await hastenMailing();
  }
  const state =
    "sent 0 (your mail server took it), 0 of them no longer on the list; refused 0, given up 0, unknown 0, skipped 0; 5 people wait: " +
    "nothing was sent in the last hour (Mail server error (DATA): 451 4.7.1 Try again later …).";
  expect(await list()).toBe(`launch  We are open\n  ${state}\n`);
  expect(await doctor()).toBe(`warning  Mailings: launch: ${state}`);
  fail();
  await pass("23 hours");
  await settled({ sent: 5 });
  expect(await query("SELECT failing_since, reason FROM earlyaccess_kept.mailings")).toEqual([
    { failing_since: null, reason: null },
  ]);
  expect(await doctor()).toBe("ok       Mailings: none is under way");
  expect([...received().values()]).toEqual([1, 1, 1, 1, 1]);
  // A server that delivers what it put off can drop the second copy.
  const ids = fixture.server.mails.map(({ to, raw }) => `${to} ${parseMail(raw).headers["message-id"]}`);
  expect([ids.length, new Set(ids).size]).toEqual([8, 5]);
  expect(fixture.server.recipients.slice(0, 3)).toEqual([
    "person0@example.com",
    "person1@example.com",
    "person2@example.com",
  ]);
});

it("a server that puts off everybody once (greylisting) delays the mailing by minutes", async () => {
  await addPeople(10);
  const isFirst = (to: string) => fixture.server.recipients.filter((recipient) => recipient === to).length === 1;
  fail("recipient", "451 4.7.1 Greylisted", { test: isFirst });
  await start();
  await send(10, "launch", letter, ["--per-hour", "200"]);
  // Also that no mail is on its way: its pause, which begins later, would lose the step.
  const idle = `SELECT FROM earlyaccess_kept.mailings
    WHERE (next_at > now() OR NOT EXISTS (SELECT FROM earlyaccess_kept.mailing_recipients WHERE due_at <= now()))
      AND NOT EXISTS (SELECT FROM earlyaccess_kept.mailing_recipients WHERE outcome = 'unknown')`;
  for (let passed = 0; passed < 9 * 60; passed += 18) {
    await until("the mailing sent what is due", async () => (await query(idle)).length === 1);
    await pass("18 seconds");
  }
  await settled({ sent: 10 });
  expect(tried()).toBe(20);
  expect([...received().values()].every((times) => times === 1)).toBe(true);
});

it("three full mailboxes of thirty hold up nobody else, are tried eight times in four days and then given up, and a later send tries them again", async () => {
  await sendWhileFailing(30, "recipient", "452 4.2.2 Mailbox full", /^person(?:3|8|20)@/);
  await settled({ sent: 27, waiting: 3 });
  expect(tried()).toBe(30);
  expect(await doctor()).toMatch(/^ok .* 3 people wait: until /);
  const [, day = "", time = ""] = /3 people wait: until (\S+) (\S+) UTC or later/.exec(await list()) ?? [];
  expect(Date.parse(`${day}T${time}Z`)).toBeGreaterThan(Date.now() + 3 * 60_000);
  const other = await waitlist(["mail", "send", "note-2", await fixture.write(letter), "1"]);
  expect(other.stderr).toBe(
    `launch is under way until ${day} ${time} UTC or later; waitlist mail stop launch ends it. Nothing was added.\n`,
  );
  const pauses = [5, 30, 120, 360, 720, 1_440, 2_880];
  for (const [i, minutes] of pauses.entries()) {
    await until("all three were tried", () => tried() === 30 + 3 * i);
    const inTime = `due_at BETWEEN now() + interval '${minutes - 1} minutes' AND now() + interval '${minutes} minutes'`;
    await until("they wait for the pause", async () => {
      return (await query(`SELECT FROM earlyaccess_kept.mailing_recipients WHERE ${inTime}`)).length === 3;
    });
    await pass(`${minutes} minutes`);
  }
  await settled({ sent: 27, "given up": 3 });
  expect(tried()).toBe(30 + 3 * 7);
  expect((await waitlist(["show", "person3@example.com"])).stdout).toMatch(
    /^The mailing launch was given up at \S+: Mail server error \(RCPT TO\): 452 4\.2\.2 Mailbox full …\.$/m,
  );
  fail();
  await send(3);
  await settled({ sent: 30 });
  expect([...received().values()].every((times) => times === 1)).toBe(true);
});

it("an address that the server refuses for good changes no pace, and gets no later mailing", async () => {
  await addPeople(4);
  fail("recipient", "550 5.1.1 Nobody is", /^person1@/);
  await start();
  await send(4, "launch", letter, ["--per-hour", "100"]);
  for (let attempt = 1; attempt <= 3; attempt++) {
    await paused(30, 36);
    await until(`person ${attempt} is tried`, () => tried() === attempt);
    await hastenMailing();
  }
  await settled({ sent: 3, "550 5.1.1": 1 });
  expect(await list()).toContain("; refused 1, given up 0, unknown 0, skipped 0; nobody waits.");
  expect((await waitlist(["show", "person1@example.com"])).stdout).toMatch(
    /^The mail server refused the mailing launch at \S+: Mail server error \(RCPT TO\): 550 5\.1\.1 Nobody is …\.$/m,
  );
  const other = await waitlist(["mail", "send", "note-2", await fixture.write(letter), "4"]);
  expect(other.stderr).toBe("Only 3 people can get it. Nothing was added.\n");
});

it.each<[step: Parameters<typeof fail>[0], reply: string, counted: number]>([
  ["recipient", "550 5.7.1 Blocked", 1],
  ["data", "552 5.2.2 Your quota", 1],
  ["sender", "451 4.7.1 Greylisted", 0],
  ["connect", "554 5.7.1 Blocked", 0],
])(
  "a reply at the step %s with “%s”, which may be about the sender, marks nobody, and the mailing rests (tries that count: %i)",
  async (step, reply, counted) => {
    await sendWhileFailing(2, step, reply);
    await rested();
    await settled({ waiting: 2 });
    expect(await query("SELECT max(tries) AS tries FROM earlyaccess_kept.mailing_recipients")).toEqual([
      { tries: counted },
    ]);
  },
);

it("three refusals in a row that say no reason let the mailing rest, and fewer do not", async () => {
  await sendWhileFailing(6, "recipient", "550 Blocked", /^person[^2]@/);
  await rested();
  expect([tried(), await outcomes()]).toEqual([6, { waiting: 5, sent: 1 }]);
});

it("while the server refuses a mailing, each confirmation mail is sent at once", async () => {
  await sendWhileFailing(5, "data", "454 4.7.0 Too many", /^person/);
  await until("a mail of the mailing is refused", () => tried() === 1);
  for (let i = 0; i < 3; i++) {
    expect(await fixture.signUp(`ada${i}@example.com`)).toBe(201);
    await until("its mail is sent", () => fixture.server.accepted.at(-1) === `ada${i}@example.com`, 5);
    await rested();
    await hastenMailing();
    await until(
      "the next mail of the mailing is refused",
      () => fixture.server.recipients.filter((to) => to.startsWith("person")).length > i + 1,
    );
  }
});

it("a server that closes the connection after each message stops the mailing after three people in a row, who get no second mail and can be listed", async () => {
  await sendWhileFailing(7, "data", "drop", /^person[^1]@/);
  for (let unknown = 1; unknown <= 4; unknown++) {
    const sent = unknown > 1 ? 1 : 0;
    await settled({ unknown, sent, waiting: 7 - unknown - sent });
    await rested();
    await hastenMailing();
  }
  await stopped();
  expect(await list()).toContain(
    "unknown 4, skipped 0; 2 people wait: it stopped: whether 3 mails arrived is not known (Mail server error: ECONNECTION); waitlist mail send launch FILE 0 goes on.",
  );
  expect(await doctor()).toMatch(/^warning +Mailings: launch: .* it stopped: /);
  expect((await waitlist(["show", "person0@example.com"])).stdout).toMatch(
    /^The mailing launch was tried at \S+; whether it arrived is not known: Mail server error: ECONNECTION\.$/m,
  );
  const { stdout } = await waitlist(["mail", "people", "launch", "--outcome", "unknown"]);
  expect(stdout.replaceAll(/,\d{4}-[^,]+,/g, ",T,")).toBe(
    `email,outcome,tried_at,reply\n${[0, 2, 3, 4].map((i) => `person${i}@example.com,unknown,T,Mail server error: ECONNECTION\n`).join("")}`,
  );
  fail();
  await send(0);
  await settled({ unknown: 4, sent: 3 });
  expect(fixture.server.mails).toHaveLength(7);
});

it("a worker that dies at each mail stops the mailing after three people, and the reason is no refusal between", async () => {
  await addPeople(6);
  await send(6, "launch", letter, ["--per-hour", "100"]);
  const killInMail = async (mails: number) => {
    fail("data", "hold");
    const worker = await startWorkerProcess(fixture.settings());
    await until("a mail is being sent", () => fixture.server.mails.length === mails);
    await worker.stop("SIGKILL");
    await hastenMailing();
  };
  await killInMail(1);
  await killInMail(2);
  fail("recipient", "550 5.1.1 No such user");
  const worker = await start();
  await settled({ unknown: 2, "550 5.1.1": 1, waiting: 3 });
  await worker.stop();
  await hastenMailing();
  await killInMail(3);
  fail();
  await start();
  await stopped();
  expect(await list()).toContain(
    "2 people wait: it stopped: whether 3 mails arrived is not known; waitlist mail send launch FILE 0 goes on.",
  );
  expect(await send(0)).toMatch(/^Added 0 people\. 2 people wait; /);
  await settled({ "550 5.1.1": 1, unknown: 3, sent: 2 });
});

it("a mailing of which no mail was accepted for a day stops with the server's words, and send with 0 goes on", async () => {
  await sendWhileFailing(3, "data", `451 4.7.1 Try again later ${"x".repeat(400)}`);
  await rested();
  await settled({ waiting: 3 });
  fail();
  await pass("1 day");
  await stopped();
  expect([await list(), await outcomes()]).toEqual([
    expect.stringMatching(
      /3 people wait: it stopped: no mail was accepted for a day \(Mail server error \(DATA\): 451 4\.7\.1 Try again later x{200,}\);/,
    ) as string,
    { waiting: 3 },
  ]);
  await send(0);
  await settled({ sent: 3 });
  expect([...received().values()]).toEqual([1, 1, 1]);
});

it("after a stop of one mailing and a send of another while a mail is in flight that the server puts off, the first sends nothing more", async () => {
  await sendWhileFailing(3, "data", "hold");
  await until("a mail is being sent", () => fixture.server.mails.length === 1);
  expect((await waitlist(["mail", "stop", "launch"])).stdout).toBe("Took back 2 people, who can get launch later.\n");
  await send(2, "note-2");
  fail("data", "451 Later"); // The reply to the mail in flight.
  fail();
  await settled({ sent: 2 }, "note-2");
  expect([await outcomes(), fixture.server.accepted]).toEqual([
    { waiting: 1 },
    ["person0@example.com", "person1@example.com"],
  ]);
  expect(await query("SELECT FROM earlyaccess_kept.mailings WHERE name = 'launch' AND active_at IS NULL")).toHaveLength(
    1,
  );
  expect((await waitlist(["mail", "stop", "launch"])).stdout).toBe("Took back 1 person, who can get launch later.\n");
});

it("in a database made from a copy, nobody who waited is sent a mail by itself, and stop or send make them unknown", async () => {
  await addPeople(6);
  await send(3);
  await query("UPDATE earlyaccess_kept.mailings SET home = 'another database'");
  await start();
  expect(await list()).toContain(
    "3 people wait: this database was made from a copy: those who wait may have had it; waitlist mail stop launch ends it.",
  );
  expect(await doctor()).toMatch(/^warning +Mailings: .* made from a copy/);
  const refused = await waitlist(["mail", "send", "launch", await fixture.write(letter), "0"]);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    "Nobody waits for launch: 3 people may have had it before this database was made from a copy. Nothing was stored. To add the 3 who can get it: waitlist mail send launch FILE 3\n",
  ]);
  expect(await outcomes()).toEqual({ waiting: 3 });
  expect((await waitlist(["mail", "stop", "launch"])).stdout).toBe(
    "This database was made from a copy: 3 people who waited may have had launch: unknown.\n",
  );
  expect(await outcomes()).toEqual({ unknown: 3 });
  await send(3);
  await settled({ unknown: 3, sent: 3 });
  expect(fixture.server.recipients).toEqual(["person3@example.com", "person4@example.com", "person5@example.com"]);
});

it.each([-10, 10])(
  "a worker whose clock is %i minutes off keeps the pace of Postgres' clock, and makes up for no night",
  async (minutes) => {
    await addPeople(3);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + minutes * 60_000 });
    onTestFinished(() => void vi.useRealTimers());
    await send(3, "launch", letter, ["--per-hour", "1000"]);
    await query("UPDATE earlyaccess_kept.mailings SET next_at = now() - interval '8 hours'");
    await start();
    await settled({ sent: 3 });
    const [row] = await query(
      `SELECT extract(epoch FROM min(pause))::float AS pause FROM (
       SELECT tried_at - lag(tried_at) OVER (ORDER BY tried_at) AS pause FROM earlyaccess_kept.mailing_recipients) AS pauses`,
    );
    expect(row?.pause).toBeGreaterThanOrEqual(3.6);
  },
);

it("times of the future, which a clock that was set back leaves behind, hold up nothing", async () => {
  await addPeople(5);
  await send(5);
  await query(`UPDATE earlyaccess_kept.mailings SET next_at = now() + interval '2 days', active_at = now() + interval '1 day',
      failing_since = now() + interval '1 day';
    UPDATE earlyaccess_kept.mailing_recipients SET outcome = 'unknown', due_at = NULL, tried_at = now() + interval '1 day' WHERE place <= 3`);
  await start();
  await settled({ unknown: 3, sent: 2 });
  expect(fixture.server.accepted).toEqual(["person3@example.com", "person4@example.com"]);
});

it("a row that a compromised worker left, and that no pause fits, holds up nobody else", async () => {
  await addPeople(2);
  fail("recipient", "451 Later", /^person0@/);
  await send(2);
  await query("UPDATE earlyaccess_kept.mailing_recipients SET tries = -9 WHERE place = 1");
  await start();
  await settled({ unknown: 1, sent: 1 });
  expect(fixture.server.accepted).toEqual(["person1@example.com"]);
});
