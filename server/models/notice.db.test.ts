// The proof of notice: every entry names the exact text that its form showed.
import request from "supertest";
import { expect, it, vi } from "vitest";
import { defaultSettings, createTestApp, type TestApp } from "../../tests/support/app.ts";
import { pageText } from "../../tests/support/copy.ts";
import { queryAs } from "../../tests/support/postgres.ts";
import { createTestDatabase } from "../../tests/support/database.ts";
import { connect, type Database } from "../database/site-database.ts";
import { pino } from "pino";
import { createNotice } from "./page-settings.ts";
import { createWaitlist } from "./waitlist.ts";

const database = await createTestDatabase();
const connection = connect(database.webUrl, pino({ enabled: false }));
const site = await createTestApp(database.webUrl);

/** Signs up with a form that shows the notice. */
async function signUp({ app }: TestApp, email: string, notice: unknown): Promise<void> {
  const entry = { name: "Ada", email, company: "Engines", notice };
  await request(app).post("/api/earlyaccess").send(entry).expect(201);
}

it("an entry's notice is the one that its form showed, also if an older replica gets the form of a newer one", async () => {
  const older = createNotice({ ...defaultSettings, controller: "Older" });
  const newer = createNotice({ ...defaultSettings, controller: "Newer" });
  const waitlist = createWaitlist(connection.execute, older);
  const olderReplica = await createTestApp(database.webUrl, { waitlist });
  const execute = vi.fn<Database["execute"]>(connection.execute).mockRejectedValueOnce(new Error("down"));
  const { check } = createWaitlist(execute, newer);
  await expect(check()).rejects.toThrow("down");
  for (let i = 0; i < 2; i++) await check(); // The first one stores the notice before any sign-up.
  expect(execute).toHaveBeenCalledTimes(1 + 2 + 1);
  await signUp(olderReplica, "a@example.com", older.id);
  await signUp(olderReplica, "b@example.com", newer.id);
  const stored = await database.query(
    "SELECT text FROM earlyaccess JOIN earlyaccess_notices AS notice ON notice.id = notice_id ORDER BY email",
  );
  expect(stored.map(({ text }) => text)).toEqual([older.text, newer.text]);
});

it("an entry's notice is the text of the page and of the form's note, whose id the form sends", async () => {
  const landing = (await request(site.app).get("/")).text;
  const page = (await request(site.app).get("/privacy")).text;
  const { id, text } = createNotice(defaultSettings);
  expect(landing).toContain(`<input type="hidden" name="notice" value="${id}"`);
  await signUp(site, "form@example.com", id);
  const stored = "SELECT notice_id FROM earlyaccess WHERE email = 'form@example.com'";
  expect(await database.query(stored)).toEqual([{ notice_id: id }]);
  const [note = "", ...lines] = text.split("\n").filter(Boolean);
  expect(pageText(landing)).toContain(note);
  for (const line of lines.flatMap((one) => one.replace("- ", "").split(/(?<=\.) /))) {
    expect(pageText(page)).toContain(line.replace(/\.$/, ""));
  }
});

it("an entry's notice is null for a sign-up that names no notice, and never fails a sign-up", async () => {
  const values = [undefined, null, "x".repeat(32), "A".repeat(32), ["0".repeat(32)], "0".repeat(31), "0".repeat(33)];
  for (const [i, value] of values.entries()) await signUp(site, `none${i}@example.com`, value);
  const stored = "SELECT FROM earlyaccess WHERE email LIKE 'none%' AND notice_id IS NULL";
  expect(await database.query(stored)).toHaveLength(values.length);
});

it("an entry's notice has the id of its text", async () => {
  const forged = "INSERT INTO public.earlyaccess_notices (id, text) VALUES (repeat('0', 32), 'another text')";
  await expect(queryAs(database.webUrl, forged)).rejects.toMatchObject({ code: "23514" });
});
