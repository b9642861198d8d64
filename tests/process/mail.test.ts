// Confirmation mails: from the sign-up through the queue to a real SMTP server.
import { expect, it } from "vitest";
import { confirmationMail } from "../../client/shared/content.ts";
import { daysWithoutMail } from "../../client/shared/promised-times.ts";
import { hashToken } from "../../server/models/entry-tokens.ts";
import { queryAs } from "../support/postgres.ts";
import { runWaitlist } from "../support/waitlist-fixture.ts";
import { createMailFixture } from "../support/worker.ts";
import { parseMail } from "../support/mail-server.ts";

const fixture = createMailFixture();
const { query, signUp, startWorker, mailed, emptied } = fixture;
const asWebRole = (sql: string, values?: unknown[]) => queryAs(fixture.database.webUrl, sql, values);
/** Calls a function of the web role with a token. */
const follow = async (name: string, token = "") =>
  (await asWebRole(`SELECT ${name}($1) AS result`, [hashToken(token)]))[0]?.result;
const tokens = () =>
  fixture.server.mails.map(({ raw }) => /confirm\?token=([\da-f]{32})/.exec(parseMail(raw).text)?.[1]);
/** Signs up again, and waits until this number of mails was sent. */
async function getMail(count: number): Promise<void> {
  expect(await signUp("ada@example.com")).toBe(201);
  await mailed(count);
  await emptied();
}
/** Waits for the second mail, which is sent after this number of days. */
async function getSecondMail(days = 1): Promise<void> {
  await fixture.waitsUntilTomorrow(days);
  expect(fixture.server.mails).toHaveLength(1);
  await fixture.passDay(days);
  await mailed(2);
  await emptied();
}
const recipients = () => fixture.server.mails.map(({ to }) => to);
const runCommand = (...args: string[]) => runWaitlist(fixture.database, args);

it("the worker sends no mail to an address that is not as a sign-up stores it, and says so", async () => {
  const worker = await startWorker();
  for (const email of ["ada@example.com ", "<ada@example.com>", "ada@example.com, bob@example.com", "ada@münchen.de"]) {
    await asWebRole(
      `INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'A', '${email}', 'C')`,
    );
  }
  await emptied();
  expect(recipients()).toEqual([]);
  expect(worker.log().match(/its address is not as a sign-up stores it/g)).toHaveLength(4);
});

it("the worker sends plain text and HTML with nothing that the visitor typed", async () => {
  const named = { CONTROLLER: "Perennial & <Co.>, 1 Garden Way", CONTACT_EMAIL: "privacy@perennial.example" };
  await startWorker({ ...named, MAIL_FROM: "Perennial <hello@mail.example>", UNCONFIRMED_DAYS: "14" });
  const name = "Eve\u2028Bcc: mallory@evil.example";
  const hostile = { name, company: "https://evil.example\u2029<b>", job_title: "Evil" };
  expect(await signUp("o'ada+tag@example.com", hostile)).toBe(201);
  await mailed(1);
  await emptied();
  expect(fixture.server.mails).toMatchObject([{ client: "perennial.example", to: "o'ada+tag@example.com" }]);
  const { headers, text, html } = parseMail(fixture.server.mails[0]?.raw ?? "");
  const token = /confirm\?token=([\da-f]{32})\n/.exec(text)?.[1] ?? "none";
  const leave = `https://perennial.example/leave?token=${token}`;
  expect(headers).toMatchObject({
    from: "Perennial <hello@mail.example>",
    to: "o'ada+tag@example.com",
    subject: confirmationMail.subject,
    "list-unsubscribe": `<${leave}>`,
    "list-unsubscribe-post": "List-Unsubscribe=One-Click",
    "auto-submitted": "auto-generated",
    "x-auto-response-suppress": "All",
  });
  expect(headers).not.toHaveProperty("bcc");
  for (const part of [text, html]) {
    for (const link of [`https://perennial.example/confirm?token=${token}`, leave]) expect(part).toContain(link);
    for (const words of ["privacy@perennial.example", " 14 days"]) expect(part).toContain(words);
    expect(part.replaceAll(token, "")).not.toMatch(/eve\b|evil|mallory|o'ada/i);
  }
  expect(text).toContain("\n-- \nPerennial\nPerennial & <Co.>, 1 Garden Way\n");
  expect(html).toContain("Perennial &amp; &lt;Co.&gt;, 1 Garden Way");
  expect(html).not.toMatch(/<(?:img|script|link)\b|url\(|src=/);
  expect(await follow("earlyaccess_confirm", token)).toBe(true);
});

it("the worker runs no function that another role created in public", async () => {
  // As on Postgres 14, where every role may create objects in public. The overload fits better than Postgres' own function.
  await fixture.database.asSuperuser("GRANT CREATE ON SCHEMA public TO PUBLIC");
  await asWebRole(
    `CREATE FUNCTION public.cardinality(bytea[]) RETURNS int LANGUAGE plpgsql AS $$
     BEGIN RAISE EXCEPTION 'it runs with the rights of %', current_user; END $$`,
  );
  const worker = await startWorker();
  await getMail(1);
  expect(worker.log()).not.toContain("with the rights of");
});

it("the worker needs a task, SMTP_URL, and the queue", async () => {
  const fault = (env = {}) => startWorker(env).catch(({ message }: Error) => message);
  expect(await fault({ SMTP_URL: "" })).toBe(
    "SMTP_URL is not set, so the worker cannot send mails. Set it, for example SMTP_URL=smtp://user:secret@mail.example:587",
  );
  expect(await fault({ MAIL_FROM: "", SMTP_URL: "" })).toBe(
    "The worker has no task. Set WEBHOOK_URL, MAIL_FROM or RETENTION_MONTHS as in docs/worker.md, and migrate.",
  );
  await query("DROP SCHEMA graphile_worker CASCADE");
  expect(await fault()).toBe("There is no queue yet. Migrate with the worker's settings.");
});

it("somebody who signs up again gets the mail again, at most one a day and three in all, and the links of each work", async () => {
  await startWorker();
  await getMail(1);
  await query("UPDATE earlyaccess SET status = 'invited'"); // Who is invited can still confirm.
  expect(await signUp("ADA@example.com")).toBe(201);
  await getSecondMail();
  await fixture.passDay();
  await getMail(3); // At once.
  await fixture.passDay();
  expect(await signUp("ada@example.com")).toBe(201); // Once too often.
  await emptied();
  expect(recipients()).toEqual(["ada@example.com", "ada@example.com", "ada@example.com"]);
  // Each of the four sign-ups counts once, also the one that waited for the next day.
  expect(await query("SELECT sum(jobs)::int AS jobs FROM earlyaccess_mail_passes")).toEqual([{ jobs: 4 }]);
  for (const token of tokens()) expect(await follow("earlyaccess_confirm", token)).toBe(true);
  expect(await follow("earlyaccess_leave", tokens()[1])).toBe(true);
  expect(await query("SELECT FROM earlyaccess")).toEqual([]);
  expect(await follow("earlyaccess_confirm", tokens()[0])).toBe(false);
});

it.each([
  ["has an address that the mail server refused", "mail_refusal = '550 5.1.1'", {}],
  ["is marked as bounced", "mail_refusal = 'bounced'", {}],
  ["confirmed it", "confirmed_at = now()", {}],
  ["has a flag", "suspected_spam = true, status = 'invited'", {}],
  ["joined", "status = 'joined'", {}],
  ["left", "status = 'left'", {}],
  ["is a bot", "mailed_at = NULL", { message: "buy" }],
])("somebody who signs up again gets no mail if that person %s", async (_, change, field) => {
  await startWorker();
  await getMail(1);
  await query(`UPDATE earlyaccess SET ${change}`);
  await fixture.passDay();
  expect(await signUp("ada@example.com", field)).toBe(201);
  await emptied();
  expect(fixture.server.mails).toHaveLength(1);
});

it("an address gets at most one mail a day, also by many jobs at once and after an erasure, and is not in the queue", async () => {
  const expectJob = async (more = {}) => {
    const [{ id } = {}] = await query("SELECT id FROM earlyaccess");
    const jobs = await query("SELECT payload, key, flags FROM graphile_worker._private_jobs");
    expect(jobs).toEqual([{ payload: { entry: id, ...more }, key: `mail ${String(id)}`, flags: null }]);
  };
  expect(await signUp("ada@example.com")).toBe(201);
  await expectJob(); // The trigger added it.
  await query(
    "SELECT graphile_worker.add_job('mail', json_build_object('entry', id)) FROM earlyaccess, generate_series(1, 20)",
  );
  await startWorker();
  await fixture.waitsUntilTomorrow();
  await expectJob({ passed: true }); // The worker added it.
  expect(await runCommand("erase", "ada@example.com")).toMatchObject({ code: 0, stderr: "" });
  await fixture.hasten();
  await emptied();
  expect(await signUp("Ada@Example.com")).toBe(201); // A new entry.
  await getSecondMail();
});

/** Sends a mail, leaves by its link, signs up again, and lets all but two of the days without mail pass. */
async function leaveAndReturn(): Promise<void> {
  await startWorker();
  await getMail(1);
  expect(await follow("earlyaccess_leave", tokens()[0])).toBe(true);
  expect(await query("SELECT FROM earlyaccess")).toEqual([]);
  expect(await signUp("Ada@Example.com")).toBe(201);
  await fixture.waitsUntilTomorrow(daysWithoutMail);
  await fixture.passDay(daysWithoutMail - 2);
}

it("each time somebody leaves, their address gets no mail for the promised days", async () => {
  await leaveAndReturn();
  await getSecondMail(2);
  expect(await follow("earlyaccess_leave", tokens()[1])).toBe(true);
  // Otherwise, a restore brings the second entry back.
  const renewed = "SELECT erased_at = left_at AS renewed FROM earlyaccess_kept.addresses WHERE left_at IS NOT NULL";
  expect(await query(renewed)).toEqual([{ renewed: true }]);
  expect(await signUp("ada@example.com")).toBe(201);
  await fixture.waitsUntilTomorrow(daysWithoutMail);
});

it("an erasure by an admin does not shorten the days without mail of somebody who left", async () => {
  await leaveAndReturn();
  expect(await runCommand("erase", "ada@example.com")).toMatchObject({ code: 0, stderr: "" });
  await fixture.hasten();
  await emptied();
  expect(await signUp("ada@example.com")).toBe(201);
  await getSecondMail(2);
});

it("an address gets at most one mail a day, also if a compromised site undoes each sign-up", async () => {
  await startWorker();
  const hash = "sha256('')";
  await asWebRole(
    `INSERT INTO earlyaccess (id, name, email, company, token_hash) VALUES (gen_random_uuid(), 'A', 'ada@example.com', 'C', ${hash})`,
  );
  await mailed(1);
  await emptied();
  expect(await asWebRole(`SELECT earlyaccess_leave(${hash}) AS left`)).toEqual([{ left: false }]);
  expect(await query("SELECT cardinality(mail_tokens) AS mails FROM earlyaccess")).toEqual([{ mails: 1 }]);
});
