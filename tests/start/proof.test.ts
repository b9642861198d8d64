// waitlist proof
import { beforeEach, expect, it } from "vitest";
import { noticeId, storeNotice } from "../support/notice.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";

const { database, waitlist, add } = createWaitlistFixture();

beforeEach(() => database.query("TRUNCATE earlyaccess"));

const entryId = "019b7f00-0000-7000-8000-000000000001";
const head = (name: string, ...more: string[]) =>
  [
    `id            ${entryId}`,
    `name          ${name}`,
    "email         ada@example.com",
    "company       Engines",
    ...more,
    "",
    "",
  ].join("\n");

/** Adds the entry of which the test wants a proof. */
const addAda = (columns: Record<string, unknown>, name = "Ada") =>
  add(name, "ada@example.com", { id: entryId, created_at: "2026-01-02T03:04:05.678+02:00", ...columns });

const created = "created_at    2026-01-02 01:04:05.678 UTC";

it("prints the entry, and the exact text of the notice that the sign-up named", async () => {
  const text = "Who keeps the list\n\n  Perennial Inc., 1 Garden Way — “Ω”\n\nFor how long\n";
  await addAda({
    notice_id: await storeNotice(database, text),
    job_title: "Countess",
    confirmed_at: "2026-01-03T00:00:00Z",
  });
  const rows = [
    "job_title     Countess",
    created,
    "confirmed_at  2026-01-03 00:00:00.000 UTC",
    "origin        sign-up",
  ];
  const notice = `The sign-up named the notice ${noticeId(text)}, which the site first showed at 2026-01-01 09:00:00.000 UTC. Its text:\n\n`;
  const stdout = `${head("Ada", ...rows)}${notice}${text}\n`;
  expect(await waitlist(["proof", " ADA@example.com"])).toEqual({ code: 0, stdout, stderr: "" });
});

it.each([
  [
    "a notice that the site did not store",
    { notice_id: noticeId("never shown") },
    `The sign-up named the notice ${noticeId("never shown")}, which the site did not store.\n`,
  ],
  [
    "no notice",
    {},
    "The sign-up named no notice: it came from a client of the API, or from before the site stored notices.\n",
  ],
])("says that a sign-up named %s", async (_, columns, message) => {
  await addAda(columns);
  const stdout = head("Ada", created, "origin        sign-up") + message;
  expect(await waitlist(["proof", "ada@example.com"])).toEqual({ code: 0, stdout, stderr: "" });
});

it("says that an entry came from an import", async () => {
  const import_id = "019b7f00-0000-7000-8000-000000000000";
  const moment = "2026-02-03T04:05:06Z";
  await database.query("INSERT INTO earlyaccess_imports VALUES ($1, $2, $2)", [import_id, moment]);
  await addAda({ import_id });
  const origin = "origin        import of 2026-02-03 04:05:06.000 UTC";
  const stdout = `${head("Ada", created, origin)}The entry came from an import, which shows no notice.\n`;
  expect(await waitlist(["proof", "ada@example.com"])).toEqual({ code: 0, stdout, stderr: "" });
});

it.each(["nobody@example.com", "no address", "%", ""])(
  "exits with 1 if the list has no entry of %j",
  async (address) => {
    await addAda({});
    const stderr = "The list has no entry with this address.\n";
    expect(await waitlist(["proof", address])).toEqual({ code: 1, stdout: "", stderr });
  },
);

it("prints no control characters of a field or notice, and says which it replaced", async () => {
  const text = "Safe\n\u001B]0;owned\u0007\u202E";
  const hostile = "\u001B[2J\norigin        import\r\u202E";
  await addAda({ notice_id: await storeNotice(database, text) }, hostile);
  const { code, stdout } = await waitlist(["proof", "ada@example.com"]);
  expect(code).toBe(0);
  expect(stdout.startsWith(head("?[2J?origin        import??", created, "origin        sign-up"))).toBe(true);
  const caution = "It has invisible characters, printed as “?”; psql shows the exact text. Its text:\n\n";
  expect(stdout.endsWith(`${caution}Safe\n?]0;owned??\n`)).toBe(true);
});
