// waitlist show: columns, status history, notice and JSON.
import { beforeEach, expect, it } from "vitest";
import { migrate } from "../../server/database/migrate.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";

const { database, waitlist, add } = await createWaitlistFixture();

beforeEach(() => database.query("TRUNCATE earlyaccess"));

const addAda = (columns: object = {}, name = "Ada") =>
  add(name, "ada@example.com", { created_at: "2026-01-02T03:04:05.678+02:00", ...columns });

async function show(...options: string[]): Promise<string> {
  const { code, stdout, stderr } = await waitlist(["show", " ADA@example.com", ...options]);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
}

it("show prints every column, the status history, and why an entry has no notice", async () => {
  const token_hash = `\\x${"01".repeat(32)}`;
  await addAda({ token_hash, mailed_at: "2026-01-02T02:00:00Z", company: "E".repeat(200) });
  await database.query("UPDATE earlyaccess SET status = 'invited', invitation = 'b'");
  await database.query("UPDATE earlyaccess SET status = 'joined'");
  const stdout = await show();
  const columns = await database.query(
    "SELECT attname AS name FROM pg_attribute WHERE attrelid = 'earlyaccess'::regclass AND attnum > 0 AND NOT attisdropped",
  );
  for (const { name } of columns) expect(stdout).toMatch(new RegExp(`^${String(name)}( |$)`, "m"));
  for (const [name, value] of Object.entries({
    created_at: "2026-01-02T01:04:05.678+00:00",
    mailed_at: "2026-01-02T02:00:00+00:00",
    token_hash,
    company: "E".repeat(200),
    status: "joined",
  })) {
    expect(stdout).toContain(`\n${name.padEnd(14)}  ${value}\n`);
  }
  expect(stdout).toContain("\nThe sign-up named no notice: it came from a client of the API.\n");
  await database.query("UPDATE earlyaccess SET notice_id = 'lost'");
  expect(await show()).toContain("\nThe sign-up named the notice lost, which the site did not store.\n");
  await database.query("UPDATE earlyaccess SET imported = true");
  expect(await show()).toContain("\nThe entry came from an import, which shows no notice.\n");
  const by = new URL(database.ownerUrl).username;
  const history = stdout.slice(stdout.indexOf("Status changes:")).replaceAll(/\d{4}-\S+/g, "TIME");
  expect(history).toContain(`TIME  waiting → invited by ${by}\nTIME  invited → joined by ${by}\n\n`);
});

it("show says where the confirmation mail is", async () => {
  await addAda();
  expect(await show()).toMatch(/^The site sends no mails\.$/m);
  const worker = { url: database.workerUrl, tasks: ["mail" as const] };
  await migrate({ ...database, adminUrl: database.adminRoleUrl, worker });
  const mailOf = async (columns: object, change = "DELETE FROM graphile_worker._private_jobs") => {
    await database.query("TRUNCATE earlyaccess; DELETE FROM graphile_worker._private_jobs");
    await addAda(columns);
    await database.query(change);
    return /^(?:The|A|No) .*mail .*$/m.exec(await show())?.[0];
  };
  const update = "UPDATE graphile_worker._private_jobs SET run_at = '2026-01-03T04:05:06Z'";
  const error = "Mail server error (RCPT TO): 450 4.2.0 Wait";
  const retry = "When the cause is gone, try again with: waitlist retry";
  expect(await mailOf({}, `${update}, attempts = 4, last_error = '${error}'`)).toBe(
    `A mail waits for its next attempt at 2026-01-03T04:05:06+00:00. ${error}.`,
  );
  for (const mailed_at of [null, "2026-01-02T02:00:00Z"]) {
    expect(await mailOf({ mailed_at }, `${update}, attempts = 25, last_error = '${error}'`)).toBe(
      `The mail was given up after 25 attempts. ${error}. ${retry}`,
    );
  }
  expect(await mailOf({ mailed_at: "2026-01-02T02:00:00Z" }, update)).toMatch(
    /^A mail was sent at 2026-01-02T02:00:00\+00:00\. A mail waits for its next attempt at /,
  );
  for (const mail_refusal of ["550 5.1.1", "550 to RCPT TO"]) {
    expect(await mailOf({ mail_refusal })).toBe(`The mail server refused the address: ${mail_refusal}.`);
  }
  for (const mailed_at of [null, "2026-01-02T02:00:00Z"]) {
    expect(await mailOf({ mail_refusal: "bounced", mailed_at })).toBe(
      "No mail goes to the address, which is marked as bounced. To remove the mark, run: waitlist bounced --undo ADDRESS",
    );
  }
  expect(await mailOf({})).toMatch(/^No mail is queued: the site sent no mails at that time, the queue failed, or a/);
  for (const mark of ["imported", "suspected_spam"]) {
    expect(await mailOf({ [mark]: true })).toBe(`No mail is queued: the entry is marked ${mark}.`);
  }
  // None of these is a mail that retry sends.
  for (const status of ["invited", "joined", "left"]) {
    expect(await mailOf({ status })).toBe(`No mail is queued: the entry has the status ${status}.`);
  }
  expect(await mailOf({ status: "joined" }, `${update}, attempts = 25`)).toBe(
    "No mail is queued: the entry has the status joined.",
  );
  expect(await mailOf({ confirmed_at: "2026-01-02T02:00:00Z" })).toBe("No mail is queued: the address is confirmed.");
  expect(await mailOf({}, update)).toMatch(/^A mail waits for its next attempt/);
  const asAdmin = await waitlist(["show", "ada@example.com"], { DATABASE_OWNER_URL: database.adminRoleUrl });
  expect(asAdmin.stdout).toMatch(/^No mail was sent\. Whether one waits, this role may not read\.$/m);
});

it("show prints no control characters, and no line that a field imitates; --format json has every character", async () => {
  const [text, name] = ["Safe\n\u001B]0;owned\u0007\u202E", "\u001B[2J\u202E\u{E0001}\u2028\u0085\u007F\n👩‍🚀"];
  const [{ id: notice_id } = {}] = await database.query(
    `INSERT INTO earlyaccess_notices (id, text, shown_at)
     VALUES (left(encode(sha256(convert_to($1, 'UTF8')), 'hex'), 32), $1, '2026-01-01T10:00:00+01') RETURNING id`,
    [text],
  );
  await addAda({ utm_source: "a\nstatus          left", notice_id }, name);
  const stdout = await show();
  expect(stdout).toContain("\nname            ?[2J??????👩\u200D🚀\n");
  expect(stdout).toContain("\nutm_source      a?status          left\n");
  expect(stdout).toContain(" first showed at 2026-01-01T09:00:00+00:00. Its text:\n\nSafe\n?]0;owned??\n");
  const json = await show("--format", "json");
  expect(stdout.replaceAll("\u200D", "")).not.toMatch(/[^\n\P{Cc}]|[\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
  const [row] = await database.query("SET timezone = 'UTC'; SELECT to_json(earlyaccess) AS entry FROM earlyaccess");
  const notice = { id: notice_id, text, shown_at: expect.any(String) as string };
  expect(JSON.parse(json)).toEqual({ entry: row?.entry, notice, status_changes: [], mailings: [] });
  expect(row?.entry).toMatchObject({ name });
});

it("show says that an address was erased", async () => {
  await addAda();
  expect(await waitlist(["erase", "ada@example.com"])).toMatchObject({ code: 0 });
  await database.query("UPDATE earlyaccess_kept.addresses SET erased_at = '2026-01-02T03:04:05Z'");
  const erased = "The address was erased at 2026-01-02T03:04:05+00:00; the database keeps its hash.\n";
  const stderr = `The list has no entry with this address. ${erased}`;
  expect(await waitlist(["show", "ADA@example.com"])).toEqual({ code: 1, stdout: "", stderr });
  await addAda();
  expect(await waitlist(["show", "ada@example.com"])).toMatchObject({ code: 0, stderr: erased });
});
