// The proof of notice: every entry names the exact text that its form showed.
import request from "supertest";
import { afterAll, beforeAll, expect, it } from "vitest";
import { defaultSettings } from "../../client/shared/site-settings.ts";
import { createTestApp } from "../../tests/support/app.ts";
import { createTestDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { entryOf } from "../../tests/support/entry.ts";
import { queryAs } from "../../tests/support/query.ts";
import { connect, createPool, type Database } from "../database/connect.ts";
import { pino } from "pino";
import { createNotice, readNoticeId } from "./notice.ts";
import { createWaitlist } from "./waitlist.ts";

let database: TestDatabase;
let connection: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  connection = connect(createPool(database.webUrl), pino({ enabled: false }));
});

afterAll(async () => {
  await connection.close();
  await database.drop();
});

it("an entry's notice holds through changes of the notice under sign-ups, also for pages that are older than the server", async () => {
  const notices = Array.from({ length: 4 }, (_, i) => createNotice({ ...defaultSettings, controller: `Version ${i}` }));
  const shown = new Map<string, string>();
  for (const [version, notice] of notices.entries()) {
    const waitlist = createWaitlist(connection.execute, { notice });
    const joins = Array.from({ length: 100 }, (_, i) => {
      const email = `${version}.${i}@example.com`;
      // Every tenth visitor loaded the page before the change.
      const seen = i % 10 === 0 ? (notices[version - 1] ?? notice) : notice;
      shown.set(email, seen.text);
      return waitlist.join({ ...entryOf(email), notice_id: seen.id });
    });
    await Promise.all(joins);
  }
  const stored = await database.query(
    "SELECT email, text FROM earlyaccess JOIN earlyaccess_notices AS notice ON notice.id = notice_id",
  );
  expect(new Map(stored.map(({ email, text }) => [email, text]))).toEqual(shown);
  expect(await database.query("SELECT FROM earlyaccess_notices")).toHaveLength(4);
});

it("an entry's notice is the text of the page and of the form's note, whose id the form sends", async () => {
  const site = await createTestApp(database.webUrl);
  const landing = (await request(site.app).get("/")).text;
  const page = (await request(site.app).get("/privacy")).text;
  const { id, text } = createNotice(defaultSettings);
  expect(landing).toContain(`<input type="hidden" name="notice" value="${id}"`);
  const words = (html: string) => html.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");
  const [note = "", ...lines] = text.split("\n").filter(Boolean);
  expect(words(landing)).toContain(note);
  for (const line of lines.flatMap((one) => one.replace("- ", "").split(/(?<=\.) /))) {
    expect(words(page)).toContain(line.replace(/\.$/, ""));
  }
  await site.close();
});

it("an entry's notice is null for a sign-up that names no notice, and never fails a sign-up", () => {
  for (const value of [undefined, null, 1, "", "x".repeat(32), "A".repeat(32), ["0".repeat(32)], "0".repeat(33)]) {
    expect(readNoticeId(value)).toBeNull();
  }
  expect(readNoticeId("0123456789abcdef0123456789abcdef")).toBe("0123456789abcdef0123456789abcdef");
});

it("an entry's notice cannot be changed: the web role may only add notices, whose id belongs to the text, and nobody changes one", async () => {
  const as = (url: string, sql: string) => queryAs(url, sql);
  const forged = "INSERT INTO public.earlyaccess_notices (id, text) VALUES (repeat('0', 32), 'another text')";
  await expect(as(database.webUrl, forged)).rejects.toMatchObject({ code: "23514" });
  for (const sql of ["UPDATE earlyaccess_notices SET text = ''", "DELETE FROM earlyaccess_notices"]) {
    await expect(as(database.webUrl, sql)).rejects.toMatchObject({ code: "42501" });
    await expect(as(database.ownerUrl, sql)).rejects.toThrow("earlyaccess_notices is append-only");
  }
  await expect(as(database.webUrl, "SELECT FROM earlyaccess_notices")).rejects.toMatchObject({ code: "42501" });
});

it("an entry's notice is stored by the first readiness check, before the first entry", async () => {
  const notice = createNotice({ ...defaultSettings, controller: "Stored first" });
  const waitlist = createWaitlist(connection.execute, { notice });
  await waitlist.check();
  expect(await database.query("SELECT text FROM earlyaccess_notices WHERE id = $1", [notice.id])).toEqual([
    { text: notice.text },
  ]);
});
