// Confirmation mails: from the sign-up through the queue to a real SMTP server.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hashToken } from "../../server/models/entry-links.ts";
import { createMailFixture } from "../support/mail-fixture.ts";
import { parseMail } from "../support/parsed-mail.ts";
import { queryAs } from "../support/query.ts";
import { until } from "../support/until.ts";
import { runWaitlist } from "../support/waitlist.ts";

const fixture = createMailFixture();
const { signUp, startWorker, mailed, emptied } = fixture;
const query = (sql: string) => fixture.database.query(sql);
/** Calls a function of the web role with a token. */
const follow = async (name: string, token = "") =>
  (await queryAs(fixture.database.webUrl, `SELECT ${name}($1) AS result`, [hashToken(token)]))[0]?.result;
const recipients = () => fixture.server.mails.map(({ to }) => to);

it("the worker sends one mail for each new sign-up", async () => {
  const worker = await startWorker();
  for (const name of ["ada", "bob"]) expect(await signUp(`${name}@example.com`)).toBe(201);
  await mailed(2);
  await emptied();
  expect(recipients().toSorted()).toEqual(["ada@example.com", "bob@example.com"]);
  expect(
    await query("SELECT FROM earlyaccess WHERE mailed_at IS NOT NULL AND cardinality(mail_tokens) = 1"),
  ).toHaveLength(2);
  await worker.stop();
  expect(worker.log()).toContain("worker started: mail");
});

describe("somebody who signs up again", () => {
  it("gets the mail again, at most one a day and three in all, and the links of each work", async () => {
    await startWorker();
    expect(await signUp("ada@example.com")).toBe(201);
    await mailed(1);
    for (let times = 2; times <= 3; times++) {
      await emptied();
      expect(await signUp("ADA@example.com")).toBe(201);
      await fixture.waitsUntilTomorrow();
      expect(await signUp("ada@example.com")).toBe(201);
      await fixture.waitsUntilTomorrow();
      expect(fixture.server.mails).toHaveLength(times - 1);
      await fixture.passDay();
      await mailed(times);
    }
    await emptied();
    await fixture.passDay();
    expect(await signUp("ada@example.com")).toBe(201);
    await emptied();
    expect(recipients()).toEqual(["ada@example.com", "ada@example.com", "ada@example.com"]);
    const tokens = fixture.server.mails.map(({ raw }) => /confirm\?token=([\w-]{22})/.exec(parseMail(raw).text)?.[1]);
    for (const token of tokens) expect(await follow("earlyaccess_confirm", token)).toBe(true);
    expect(await follow("earlyaccess_leave", tokens[1])).toBe(true);
    expect(await query("SELECT FROM earlyaccess")).toEqual([]);
    expect(await follow("earlyaccess_confirm", tokens[0])).toBe(false);
  });

  it("after a day gets the mail at once", async () => {
    await startWorker();
    expect(await signUp("ada@example.com")).toBe(201);
    await mailed(1);
    await emptied();
    await fixture.passDay();
    expect(await signUp("ada@example.com", { name: "Eve" })).toBe(201);
    await mailed(2);
    await emptied();
  });

  it.each([
    ["has confirmed", "confirmed_at = now()", {}],
    ["has an address that the mail server refused", "mail_refusal = '550 5.1.1'", {}],
    ["has a flag", "unusual_volume = true", {}],
    ["is a bot", "mailed_at = NULL", { message: "buy" }],
  ])("gets none if that person %s", async (_, change, field) => {
    const worker = await startWorker();
    expect(await signUp("ada@example.com")).toBe(201);
    await mailed(1);
    await emptied();
    await query(`UPDATE earlyaccess SET ${change}`);
    await fixture.passDay();
    expect(await signUp("ada@example.com", field)).toBe(201);
    await emptied();
    await worker.stop();
    expect(fixture.server.mails).toHaveLength(1);
  });

  it("leaves no address in the queue, and gets no mail after an erasure", async () => {
    const { ERASURE_KEY = "" } = fixture.settings();
    const expectNoAddress = async () => {
      const [jobs] = await query("SELECT json_agg(j)::text AS text FROM graphile_worker._private_jobs j");
      expect(jobs?.text).toContain("mail");
      expect(jobs?.text).not.toMatch(/\bada\b|\bbob\b|example|%40|@/i);
    };
    const signUpBoth = async () => {
      for (const name of ["ada", "bob"]) expect(await signUp(`${name}@example.com`)).toBe(201);
    };
    await signUpBoth();
    await expectNoAddress(); // Of the trigger.
    await startWorker();
    await mailed(2);
    await signUpBoth();
    await until(
      "two mails wait",
      async () => (await query("SELECT FROM graphile_worker.jobs WHERE run_at > now()"))[1],
    );
    await expectNoAddress(); // Of the worker.
    await fixture.leave(); // By the latest mail.
    expect(
      await runWaitlist(fixture.database, ["erase", "ada@example.com", "bob@example.com"], { ERASURE_KEY }),
    ).toMatchObject({ code: 0, stderr: "" });
    await fixture.passDay();
    await emptied();
    expect(fixture.server.mails).toHaveLength(2);
  });
});

it("the worker sends none for a flagged, imported or confirmed entry", async () => {
  expect(await signUp("spam@example.com", { message: "buy" })).toBe(201);
  expect(await signUp("gone@mailinator.com")).toBe(201);
  expect(await signUp("sure@example.com")).toBe(201);
  await query("UPDATE earlyaccess SET confirmed_at = now() WHERE email = 'sure@example.com'");
  const folder = await mkdtemp(join(tmpdir(), "perennial-mail-"));
  await writeFile(join(folder, "list.csv"), "name,email,company\nBob,bob@example.com,Bobs\n");
  const { ERASURE_KEY = "" } = fixture.settings();
  const imported = await runWaitlist(fixture.database, ["import", join(folder, "list.csv")], { ERASURE_KEY });
  expect(imported).toMatchObject({ code: 0, stderr: "" });
  await rm(folder, { recursive: true });
  await startWorker();
  expect(await signUp("ada@example.com")).toBe(201);
  await emptied();
  expect(recipients()).toEqual(["ada@example.com"]);
});

it("the worker sends none to an address that is not as a sign-up stores it, and says so", async () => {
  const worker = await startWorker();
  for (const email of ["ada@example.com ", "<ada@example.com>", "ada@example.com, bob@example.com"]) {
    await queryAs(
      fixture.database.webUrl,
      `INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'A', '${email}', 'C')`,
    );
  }
  await emptied();
  expect(recipients()).toEqual([]);
  expect(worker.log().match(/its address is not as a sign-up stores it/g)).toHaveLength(3);
});

describe("an address gets at most one mail a day", () => {
  it("if it leaves and signs up again", async () => {
    await startWorker();
    expect(await signUp("ada@example.com")).toBe(201);
    await mailed(1);
    await emptied();
    for (let times = 0; times < 2; times++) {
      await fixture.leave();
      expect(await query("SELECT FROM earlyaccess")).toEqual([]);
      expect(await signUp("Ada@Example.com")).toBe(201);
      await fixture.waitsUntilTomorrow();
      expect(fixture.server.mails).toHaveLength(1 + times);
      await fixture.passDay();
      await mailed(2 + times);
      await emptied();
    }
  });

  it("if two jobs run at once", async () => {
    expect(await signUp("ada@example.com")).toBe(201);
    await query(
      "SELECT graphile_worker.add_job('mail', json_build_object('entry', id)) FROM earlyaccess, generate_series(1, 20)",
    );
    await startWorker();
    await fixture.waitsUntilTomorrow();
    expect(fixture.server.mails).toHaveLength(1);
  });

  it("and keeps their count if a compromised site undoes each sign-up", async () => {
    await startWorker();
    const hash = "'\\x00'::bytea";
    await queryAs(
      fixture.database.webUrl,
      `INSERT INTO earlyaccess (id, name, email, company, token_hash) VALUES (gen_random_uuid(), 'A', 'ada@example.com', 'C', ${hash})`,
    );
    await mailed(1);
    await emptied();
    expect(await queryAs(fixture.database.webUrl, `SELECT earlyaccess_leave(${hash}) AS left`)).toEqual([
      { left: false },
    ]);
    expect(await query("SELECT cardinality(mail_tokens) AS mails FROM earlyaccess")).toEqual([{ mails: 1 }]);
  });

  it("and three in all if the server never confirms one", async () => {
    fixture.server.fail("data", "drop");
    await startWorker();
    expect(await signUp("ada@example.com")).toBe(201);
    for (let times = 1; times <= 3; times++) {
      await mailed(times);
      await fixture.failed();
      await fixture.hasten();
      await (times < 3 ? fixture.waitsUntilTomorrow() : emptied());
      expect(fixture.server.mails).toHaveLength(times);
      await fixture.passDay();
    }
  });
});

it("the worker mails nobody who left before the worker ran", async () => {
  expect(await signUp("ada@example.com")).toBe(201);
  await query("DELETE FROM earlyaccess");
  await startWorker();
  await emptied();
  expect(fixture.server.connections()).toBe(0);
});

it("the worker sends plain text and HTML with nothing that the visitor typed", async () => {
  await startWorker({ CONTROLLER: "Perennial Inc., 1 Garden Way", CONTACT_EMAIL: "privacy@perennial.example" });
  const hostile = {
    name: "Eve\u2028Bcc: mallory@evil.example",
    company: "https://evil.example\u2029<b>",
    job_title: "Evil",
  };
  expect(await signUp("o'ada+tag@example.com", hostile)).toBe(201);
  expect(await signUp("eve@example.com", { name: "Eve\r\nBcc: mallory@evil.example" })).toBe(422);
  await mailed(1);
  await emptied();
  expect(recipients()).toEqual(["o'ada+tag@example.com"]);
  const { from, raw } = fixture.server.mails[0] ?? { from: "", raw: "" };
  const { headers, text, html } = parseMail(raw);
  const token = /confirm\?token=([\w-]{22})\n/.exec(text)?.[1] ?? "none";
  const leave = `https://perennial.example/leave?token=${token}`;
  expect(from).toBe("hello@perennial.example");
  expect(headers).toMatchObject({
    from: "Perennial <hello@perennial.example>",
    to: "o'ada+tag@example.com",
    subject: "Confirm your address for the Perennial early access list",
    "list-unsubscribe": `<${leave}>`,
    "list-unsubscribe-post": "List-Unsubscribe=One-Click",
    "auto-submitted": "auto-generated",
    "message-id": expect.stringMatching(/^<[\w-]+@perennial\.example>$/) as unknown,
  });
  expect(headers).not.toHaveProperty("bcc");
  for (const part of [text, html]) {
    for (const link of [`https://perennial.example/confirm?token=${token}`, leave]) expect(part).toContain(link);
    expect(part).toContain("Perennial Inc., 1 Garden Way");
    expect(part).toContain("privacy@perennial.example");
    expect(part.replaceAll(token, "")).not.toMatch(/eve\b|evil|mallory|o'ada/i);
  }
  expect(html).not.toMatch(/<(?:img|script|link)\b|url\(|src=/);
  await queryAs(fixture.database.webUrl, `SELECT earlyaccess_confirm(sha256('${token}'))`);
  expect(await query("SELECT FROM earlyaccess WHERE confirmed_at IS NOT NULL")).toHaveLength(1);
});

it("the worker reads neither name nor company, and no others' tables", async () => {
  const attempt = (sql: string) => queryAs(fixture.database.workerUrl, sql);
  for (const column of ["name", "company", "job_title", "status", "token_hash", "erasure_hash", "created_at"]) {
    await expect(attempt(`SELECT ${column} FROM earlyaccess`), column).rejects.toMatchObject({ code: "42501" });
  }
  for (const sql of [
    "UPDATE earlyaccess SET email = 'a@b.co'",
    "UPDATE earlyaccess SET confirmed_at = now()",
    "DELETE FROM earlyaccess",
    "INSERT INTO earlyaccess_erasures.addresses (hash) VALUES ('')",
    "SELECT * FROM earlyaccess_notices",
    "SELECT earlyaccess_leave('')",
  ]) {
    await expect(attempt(sql), sql).rejects.toMatchObject({ code: "42501" });
  }
  await attempt("SELECT id, email, mail_tokens, mailed_at, mail_refusal, confirmed_at FROM earlyaccess");
});

it("the worker needs SMTP_URL, the right ERASURE_KEY and its migration", async () => {
  await expect(startWorker({ SMTP_URL: "" })).rejects.toThrow(/^SMTP_URL is not set, .*SMTP_URL=smtp:/);
  const other = { ERASURE_KEY: "another-key-of-more-than-32-characters" };
  await expect(startWorker(other)).rejects.toThrow(/^ERASURE_KEY is not the key /);
  await query("DROP SCHEMA earlyaccess_erasures CASCADE");
  await expect(startWorker()).rejects.toThrow(/^There is no table for erased addresses yet\. /);
});
