// waitlist bounced: who gets no mail any more, what stays of them, and the addresses that the command reads.
import { expect, it } from "vitest";
import { createMailingFixture } from "../support/mailing.ts";
import { withClient } from "../support/postgres.ts";
import { until } from "../support/run.ts";

const fixture = await createMailingFixture();
const { query, waitlist, addPeople, send, settled, signUp, mailed, emptied } = fixture;
const start = () => fixture.startWorker(fixture.settings());
const recipients = () => fixture.server.mails.map(({ to }) => to);
const person = (number: number) => `person${number}@example.com`;
const marked = async () =>
  (await query("SELECT email FROM earlyaccess WHERE mail_refusal = 'bounced' ORDER BY email")).map(
    ({ email }) => email,
  );
const print = async (...args: string[]) => {
  const { code, stdout, stderr } = await waitlist(args);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
};

it("somebody whose mails came back gets no confirmation mail again, stays on the list, and is reachable again with --undo", async () => {
  await start();
  expect(await signUp("ada@example.com")).toBe(201);
  await mailed(1);
  await emptied();
  const before = await print("stats");
  expect(await print("bounced", " ADA@example.com")).toMatch(
    /^Marked 1 person as bounced\. .*: 0\. Not on the list: 0\.\n$/,
  );
  await fixture.passDay();
  expect(await signUp("ada@example.com")).toBe(201);
  await emptied();
  await print("retry");
  await emptied();
  expect(recipients()).toEqual(["ada@example.com"]);
  expect(await print("stats")).toBe(before);
  expect(await print("export")).toMatch(/,ada@example\.com,.*,bounced,/);
  expect(await print("bounced", "--undo", "ada@example.com")).toMatch(/^Removed the mark of 1 person\./);
  expect(await signUp("ada@example.com")).toBe(201);
  await mailed(2);
});

it("a mailing skips somebody whose mails came back, also one who waits in it, and takes that person again after --undo", async () => {
  await addPeople(4);
  await print("bounced", person(1));
  await send(3);
  await print("bounced", person(0));
  await start();
  await settled({ skipped: 1, sent: 2 });
  expect(recipients()).toEqual([person(2), person(3)]);
  await print("bounced", "--undo", person(0));
  await send(1);
  await settled({ sent: 3 });
  expect(recipients().at(-1)).toBe(person(0));
});

it("a mark that is set while the mail is sent and put off stays", async () => {
  fixture.server.fail("recipient", "hold");
  await start();
  expect(await signUp("ada@example.com")).toBe(201);
  await until("the mail is being sent", () => fixture.server.recipients.length === 1);
  await print("bounced", "ada@example.com");
  fixture.server.fail("recipient", "450 4.2.1 Wait");
  await fixture.failed();
  fixture.server.fail();
  await fixture.hasten();
  await emptied();
  expect([recipients(), await marked()]).toEqual([[], ["ada@example.com"]]);
});

it.each<[what: string, refusal: string | null, work: () => Promise<unknown>]>([
  ["the worker takes the mail", null, start],
])("a mark that is set while %s stays, and no mail is sent", async (_, refusal, work) => {
  expect(await signUp("ada@example.com")).toBe(201);
  await query("UPDATE earlyaccess SET mail_refusal = $1", [refusal]);
  if (refusal) await query("DELETE FROM graphile_worker._private_jobs");
  const working = await withClient(fixture.database.ownerUrl, async (session) => {
    await session.query("BEGIN; UPDATE earlyaccess SET mail_refusal = 'bounced'");
    const begun = work();
    const waiting =
      "SELECT FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND datname = current_database()";
    await until("it waits for the entry", async () => (await query(waiting))[0]);
    await session.query("COMMIT");
    return begun;
  });
  await working;
  await emptied();
  expect([recipients(), await marked()]).toEqual([[], ["ada@example.com"]]);
});

it("bounced marks the addresses of a file with any line endings, in any spelling, keeps the codes of the mail server, and counts the others", async () => {
  await addPeople(4);
  await addPeople(1, { mail_refusal: "550 5.1.1" }, 4);
  await addPeople(1, { mail_refusal: "550 to RCPT TO" }, 5);
  const file = await fixture.write(
    `PERSON0@example.com\r\n${person(1)}\n\r\n${person(2)}\r${person(4)}\n${person(5)} \r\nnobody@example.com\n`,
    "bounced.txt",
  );
  const rest = "Not on the list: 1 (nobody@example.com).\n";
  const counted = (changed: string, before: number) =>
    `Marked ${changed} as bounced. Marked before, or refused by the mail server: ${before}. ${rest}`;
  expect(await print("bounced", "--file", file)).toBe(counted("4 people", 1));
  expect(await marked()).toEqual([person(0), person(1), person(2), person(5)]);
  expect(await print("bounced", "--file", file, person(3))).toBe(counted("1 person", 5));
  const undone = `Removed the mark of 4 people. Not marked: 1 (${person(4)}). ${rest}`;
  expect(await print("bounced", "--undo", "--file", file)).toBe(undone);
  expect(await marked()).toEqual([person(3)]);
  expect(await query("SELECT email FROM earlyaccess WHERE mail_refusal = '550 5.1.1'")).toEqual([{ email: person(4) }]);
});

it("bounced marks nobody if a text is no address, or none is named or on the list", async () => {
  await addPeople(1);
  const file = await fixture.write(`${person(0)}\nFinal-Recipient: rfc822; ${person(0)}\n`, "bounced.txt");
  const stderr = `"Final-Recipient: rfc822; ${person(0)}" is not an email address. Nothing was changed.\n`;
  expect(await waitlist(["bounced", "--file", file])).toEqual({ code: 1, stdout: "", stderr });
  expect(await waitlist(["bounced"])).toMatchObject({ code: 2 });
  for (const options of [[], ["--undo"]]) {
    const { code, stderr: error } = await waitlist(["bounced", ...options, "nobody@example.com"]);
    expect([code, error]).toEqual([1, "None of these addresses is on the list.\n"]);
  }
  expect(await print("bounced", "--undo", person(0))).toMatch(/ Not marked: 1 /);
  expect(await marked()).toEqual([]);
});
