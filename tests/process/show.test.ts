// waitlist show: columns, trace, notice and JSON.
import { beforeEach, describe, expect, it } from "vitest";
import { migrate } from "../../server/database/migrate.ts";
import { noticeId, storeNotice } from "../support/notice.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";

const { database, waitlist, add } = createWaitlistFixture();

beforeEach(() => database.query("TRUNCATE earlyaccess"));

const addAda = (columns: Record<string, unknown> = {}, name = "Ada") =>
  add(name, "ada@example.com", { created_at: "2026-01-02T03:04:05.678+02:00", ...columns });

it("prints every column, the origin and the trace", async () => {
  await addAda({
    token_hash: "\\x0102",
    mailed_at: "2026-01-02T02:00:00Z",
    notice_id: noticeId("none"),
    utm_source: "news",
  });
  const [{ id }] = (await database.query("SELECT id FROM earlyaccess")) as [{ id: string }];
  await database.query("UPDATE earlyaccess SET status = 'invited', invitation = 'b'");
  await database.query("UPDATE earlyaccess SET status = 'joined'");
  const { code, stdout, stderr } = await waitlist(["show", " ADA@example.com"]);
  expect([code, stderr]).toEqual([0, ""]);
  const columns = await database.query(
    "SELECT attname AS name FROM pg_attribute WHERE attrelid = 'earlyaccess'::regclass AND attnum > 0 AND NOT attisdropped",
  );
  for (const { name } of columns) expect(stdout).toMatch(new RegExp(`^${String(name)}( |$)`, "m"));
  const rows = {
    id,
    created_at: "2026-01-02 01:04:05.678 UTC",
    mailed_at: "2026-01-02 02:00:00.000 UTC",
    suspected_spam: "false",
    token_hash: "\\x0102",
    utm_source: "news",
    notice_id: noticeId("none"),
    status: "joined",
    invitation: "b",
    imported: "false",
  };
  for (const [name, value] of Object.entries(rows))
    expect(stdout).toContain(`\n${name.padEnd(16)}  ${value}\n`.slice(name === "id" ? 1 : 0));
  const trace = await database.query(
    "SELECT to_json(changed_at) AS at FROM earlyaccess_status_changes WHERE entry_id = $1 ORDER BY id",
    [id],
  );
  const [invited, joined] = trace.map(({ at }) =>
    new Date(String(at)).toISOString().replace("T", " ").replace("Z", " UTC"),
  );
  const by = new URL(database.ownerUrl).username;
  const lines = [`${invited}  waiting → invited by ${by}`, `${joined}  invited → joined by ${by}`];
  expect(stdout).toContain(`\n\nStatus changes:\n${lines.join("\n")}\n\nThe sign-up named the notice `);
});

it("says that an import added the entry", async () => {
  await addAda({ imported: true });
  const { stdout } = await waitlist(["show", "ada@example.com"]);
  expect(stdout).toContain("\nimported          true\n");
  expect(stdout.endsWith("\n\nThe entry came from an import, which shows no notice.\n")).toBe(true);
});

describe("prints the notice", () => {
  const showNotice = async () => {
    const { code, stdout, stderr } = await waitlist(["show", "ada@example.com"]);
    expect([code, stderr]).toEqual([0, ""]);
    return stdout.slice(stdout.indexOf("The sign-up named"));
  };

  it("with its exact text", async () => {
    const text = "Who keeps the list\n\n  Perennial Inc., 1 Garden Way — “Ω”\n\nFor how long\n";
    const id = await storeNotice(database, text);
    await addAda({ notice_id: id });
    const notice = `The sign-up named the notice ${id}, which the site first showed at 2026-01-01 09:00:00.000 UTC. Its text:\n\n`;
    expect(await showNotice()).toBe(`${notice}${text}\n`);
  });

  it.each([
    [
      "that the site did not store",
      { notice_id: noticeId("never shown") },
      `The sign-up named the notice ${noticeId("never shown")}, which the site did not store.\n`,
    ],
    ["that the sign-up did not name", {}, "The sign-up named no notice: it came from a client of the API.\n"],
  ])("%s", async (_, columns, message) => {
    await addAda(columns);
    expect(await showNotice()).toBe(message);
  });

  it("without its control characters, and says so", async () => {
    await addAda({ notice_id: await storeNotice(database, "Safe\n\u001B]0;owned\u0007\u202E") });
    const caution = "It has invisible characters, printed as “?”; --format json has the exact text. Its text:\n\n";
    expect((await showNotice()).endsWith(`${caution}Safe\n?]0;owned??\n`)).toBe(true);
  });
});

describe("with --format json", () => {
  const showJson = async () => {
    const { code, stdout, stderr } = await waitlist(["show", "ada@example.com", "--format", "json"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).not.toMatch(/[^\n\P{Cc}]|[\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
    return JSON.parse(stdout) as unknown;
  };

  it("has the same, and the notice", async () => {
    const id = await storeNotice(database, "Who keeps the list\n");
    await addAda({ notice_id: id });
    const [row] = await database.query("SELECT to_json(earlyaccess) AS entry FROM earlyaccess");
    const notice = { id, text: "Who keeps the list\n", shown_at: expect.any(String) };
    expect(await showJson()).toEqual([{ entry: row?.entry, notice, status_changes: [] }]);
  });

  it("keeps every character, and prints none that a terminal obeys", async () => {
    const name = "\u001B[2J\u202E\u{E0001}\u2028\u0085\u007F\n👩‍🚀";
    await addAda({}, name);
    expect(await showJson()).toMatchObject([{ entry: { name } }]);
  });
});

it("prints no control characters", async () => {
  await addAda({ utm_source: "a\nstatus            left" }, "\u001B[2J\u202E");
  const { stdout } = await waitlist(["show", "ada@example.com"]);
  expect(stdout).toContain("\nname              ?[2J?\n");
  expect(stdout).toContain("\nutm_source        a?status            left\n");
});

it.each([
  ["nobody@example.com", "The list has no entry with this address.\n"],
  ["no address", '"no address" is not an email address.\n'],
  ["%", '"%" is not an email address.\n'],
])("exits with 1 if the list has no entry of %j", async (address, stderr) => {
  await addAda();
  for (const format of ["text", "json"]) {
    expect(await waitlist(["show", address, "--format", format])).toEqual({ code: 1, stdout: "", stderr });
  }
});

it("says that an address was erased, with ERASURE_KEY", async () => {
  const env = { ERASURE_KEY: "k".repeat(40) };
  await migrate({ ...database, erasureKey: env.ERASURE_KEY });
  await addAda();
  expect(await waitlist(["show", "ada@example.com"], env)).toMatchObject({ code: 0, stderr: "" });
  expect(await waitlist(["erase", "ada@example.com"], env)).toMatchObject({ code: 0 });
  await database.query("UPDATE earlyaccess_erasures.addresses SET erased_at = '2026-01-02T03:04:05Z'");
  const erased = "The address was erased at 2026-01-02 03:04:05.000 UTC; the database keeps its hash.\n";
  const stderr = `The list has no entry with this address. ${erased}`;
  expect(await waitlist(["show", "ADA@example.com"], env)).toEqual({ code: 1, stdout: "", stderr });
  await addAda();
  expect(await waitlist(["show", "ada@example.com"], env)).toMatchObject({ code: 0, stderr: erased });
});
