// Mailings and a mail server or worker that fails: no mail twice, no burst, no confirmation mail that waits, and words that say why.
import { expect, it } from "vitest";
import { parseMail } from "../support/mail-server.ts";
import { createMailingFixture, letter } from "../support/mailing.ts";
import { until } from "../support/run.ts";
import { startWorker, startWorkerProcess } from "../support/worker.ts";

const fixture = await createMailingFixture();
const { query, waitlist, addPeople, send, settled, outcomes, received } = fixture;
const start = () => startWorker(fixture.settings());
const fail = (...args: Parameters<typeof fixture.server.fail>) => fixture.server.fail(...args);
const list = async () => (await waitlist(["mail", "--list"])).stdout;
const doctor = async () => /^\w+ +Mailings: .*$/m.exec((await waitlist(["doctor"])).stdout)?.[0];
/** Seconds until the job runs. */
const pause = async () => {
  const [job] = await query(
    "SELECT extract(epoch FROM run_at - now())::int AS seconds FROM graphile_worker.jobs WHERE key = 'mailing' AND locked_at IS NULL",
  );
  return job?.seconds as number | undefined;
};
const paused = (least: number, most: number) =>
  until(`the job waits for ${least} to ${most} s`, async () => {
    const seconds = (await pause()) ?? 0;
    return seconds >= least && seconds <= most;
  });
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

it("a mailing that the server puts off waits for ten minutes, goes on with the next person, and gets through to each once", async () => {
  await sendWhileFailing(5, "data", "451 4.7.1 Try again later");
  for (let attempt = 1; attempt <= 3; attempt++) {
    await paused(580, 600);
    expect([tried(), await outcomes()]).toEqual([attempt, { waiting: 5 }]);
    if (attempt < 3) await fixture.hasten();
  }
  expect(await list()).toMatch(
    /^launch {2}We are open\n {2}sent 0 \(your mail server took it\), 0 of them no longer on the list; refused 0, unknown 0, skipped 0; 5 people wait: until \S+ \S+ UTC or later \(Mail server error \(DATA\): 451 4\.7\.1 Try again later …\)\.\n$/,
  );
  expect(await doctor()).toMatch(/^ok +Mailings: launch: sent 0 /);
  fail();
  await query("UPDATE earlyaccess_kept.mailings SET active_at = active_at - interval '23 hours'");
  await fixture.passHour();
  await settled({ sent: 5 });
  expect(await query("SELECT FROM earlyaccess_kept.mailings WHERE reply IS NOT NULL")).toEqual([]);
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

it("three full mailboxes of thirty hold up nobody else, and are tried again after an hour", async () => {
  await sendWhileFailing(30, "recipient", "452 4.2.2 Mailbox full", /^person(?:3|8|20)@/);
  await settled({ sent: 27, waiting: 3 });
  await paused(3_500, 3_600);
  expect(tried()).toBe(30);
  const [, day = "", time = ""] = /3 people wait: until (\S+) (\S+) UTC or later/.exec(await list()) ?? [];
  expect(Date.parse(`${day}T${time}Z`)).toBeGreaterThan(Date.now() + 50 * 60_000);
  const other = await waitlist(["mail", "note-2", await fixture.write(letter), "--send", "1"]);
  expect(other.stderr).toBe(
    "launch waits for 3 people whose servers put it off. waitlist mail --stop launch ends it. Nothing was added.\n",
  );
  fail();
  await fixture.passHour();
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
    expect(tried()).toBe(attempt);
    await fixture.hasten();
  }
  await settled({ sent: 3, "550 5.1.1": 1 });
  expect(await list()).toContain("; refused 1, unknown 0, skipped 0; nobody waits.");
  expect((await waitlist(["show", "person1@example.com"])).stdout).toMatch(
    /^The mail server refused the mailing launch at \S+: 550 5\.1\.1\.$/m,
  );
  const other = await waitlist(["mail", "note-2", await fixture.write(letter), "--send", "4"]);
  expect(other.stderr).toBe("Only 3 people can get it. Nothing was added.\n");
});

it.each([
  ["recipient", "550 Blocked"],
  ["data", "552 5.2.2 Your quota"],
] as const)(
  "a reply at the step %s with “%s”, which may be about the sender, marks nobody, and the mailing waits",
  async (step, reply) => {
    await sendWhileFailing(2, step, reply);
    await paused(580, 600);
    expect([tried(), await outcomes()]).toEqual([1, { waiting: 2 }]);
  },
);

it("while the server refuses a mailing, each confirmation mail is sent at once", async () => {
  await sendWhileFailing(5, "recipient", "454 4.7.0 Too many", /^person/);
  await until("a mail of the mailing is refused", () => tried() === 1);
  for (let i = 0; i < 3; i++) {
    expect(await fixture.signUp(`ada${i}@example.com`)).toBe(201);
    await until("its mail is sent", () => fixture.server.accepted.at(-1) === `ada${i}@example.com`, 5);
    await fixture.hasten();
    await until(
      "the next mail of the mailing is refused",
      () => fixture.server.recipients.filter((to) => to.startsWith("person")).length > i + 1,
    );
  }
});

it("a server that closes the connection after each message stops the mailing after three people in a row, who get no second mail", async () => {
  await sendWhileFailing(7, "data", "drop", /^person[^1]@/);
  for (let unknown = 1; unknown <= 4; unknown++) {
    const sent = unknown > 1 ? 1 : 0;
    await settled({ unknown, sent, waiting: 7 - unknown - sent });
    await paused(580, 600);
    await fixture.hasten();
  }
  await stopped();
  expect(await list()).toContain(
    "unknown 4, skipped 0; 2 people wait: it stopped (Mail server error: ECONNECTION); waitlist mail launch FILE --send 0 goes on.",
  );
  expect(await doctor()).toMatch(/^warning +Mailings: launch: .* it stopped /);
  expect((await waitlist(["show", "person0@example.com"])).stdout).toMatch(
    /^The mailing launch may have arrived: it was tried at \S+, and got no answer\.$/m,
  );
  fail();
  await send(0);
  await settled({ unknown: 4, sent: 3 });
  expect(fixture.server.mails).toHaveLength(7);
});

it("a worker that dies at each mail stops the mailing after three people, and a job that was given up is replaced", async () => {
  await addPeople(5);
  fail("data", "hold");
  await send(5);
  for (let killed = 1; killed <= 3; killed++) {
    const worker = await startWorkerProcess(fixture.settings());
    await until("a mail is being sent", () => fixture.server.mails.length === killed);
    await worker.stop("SIGKILL");
    expect(await outcomes()).toEqual({ unknown: killed, waiting: 5 - killed });
  }
  fail();
  await start();
  await stopped();
  expect(await list()).toContain(
    "2 people wait: it stopped (3 mails got no answer); waitlist mail launch FILE --send 0 goes on.",
  );
  fail("recipient", "451 Later");
  await send(0);
  await paused(580, 600);
  await query(
    "UPDATE graphile_worker._private_jobs SET attempts = 25, last_error = 'Out of memory' WHERE key = 'mailing'",
  );
  expect(await list()).toContain(
    "its job was given up after 25 attempts (Out of memory); waitlist mail launch FILE --send 0 goes on.",
  );
  expect(await doctor()).toMatch(/^warning +Mailings: .* given up after 25 attempts/);
  fail();
  expect(await send(0)).toMatch(/^Added 0 people\. 2 people wait; /);
  await fixture.passHour();
  await settled({ unknown: 3, sent: 2 });
});

it("a mailing that has sent nothing for a day stops with the server's words, and --send 0 goes on", async () => {
  await sendWhileFailing(3, "data", `451 4.7.1 Try again later ${"x".repeat(400)}`);
  await paused(580, 600);
  await query("UPDATE earlyaccess_kept.mailings SET active_at = active_at - interval '1 day'");
  fail();
  await fixture.passHour();
  await stopped();
  await until("the job ends", async () => (await query("SELECT FROM graphile_worker.jobs")).length === 0);
  expect([await list(), await outcomes()]).toEqual([
    expect.stringMatching(
      /3 people wait: it stopped \(Mail server error \(DATA\): 451 4\.7\.1 Try again later x{200,}\);/,
    ) as string,
    { waiting: 3 },
  ]);
  await send(0);
  await settled({ sent: 3 });
  expect([...received().values()]).toEqual([1, 1, 1]);
});

it("after --stop of one mailing and --send of another while a mail is in flight that the server puts off, the first sends nothing more", async () => {
  await sendWhileFailing(3, "data", "hold");
  await until("a mail is being sent", () => fixture.server.mails.length === 1);
  expect((await waitlist(["mail", "--stop", "launch"])).stdout).toBe("Took back 2 people, who can get launch later.\n");
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
  expect((await waitlist(["mail", "--stop", "launch"])).stdout).toBe("Took back 1 person, who can get launch later.\n");
});

it("after a restore into a new database, nobody who waited is sent a mail by itself, and --stop or --send make them unknown", async () => {
  await addPeople(6);
  await send(3);
  await query("DELETE FROM graphile_worker._private_jobs"); // The queue is in no backup.
  await start();
  expect(await list()).toContain(
    "3 people wait: the queue has no job of it, as after a restore; waitlist mail --stop launch ends it.",
  );
  expect(await doctor()).toMatch(/^warning +Mailings: .* the queue has no job of it/);
  const refused = await waitlist(["mail", "launch", await fixture.write(letter), "--send", "0"]);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    "Nobody waits for launch: 3 people may have had it before a restore. Nothing was stored.\n",
  ]);
  expect(await outcomes()).toEqual({ waiting: 3 });
  expect((await waitlist(["mail", "--stop", "launch"])).stdout).toBe(
    "3 people who waited before a restore may have had launch: unknown.\n",
  );
  expect(await outcomes()).toEqual({ unknown: 3 });
  await send(3);
  await settled({ unknown: 3, sent: 3 });
  expect(fixture.server.recipients).toEqual(["person3@example.com", "person4@example.com", "person5@example.com"]);
});
