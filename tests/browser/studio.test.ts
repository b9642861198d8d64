// Prisma Studio in a browser: the opening view, editing, deleting, and the limits of the admin role.
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { migrate } from "../../server/database/migrate.ts";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { createEmptyDatabase, type TestDatabase } from "../support/database.ts";
import { startStudio, type Site } from "../support/site.ts";

let database: TestDatabase;
let studio: Site;

beforeAll(async () => {
  const empty = await createEmptyDatabase();
  database = { ...empty, adminUrl: empty.adminRoleUrl };
  await migrate(database);
  // Neither the ids nor the physical order of the rows follow created_at.
  await database.query(`
    INSERT INTO earlyaccess (id, name, email, company, job_title, created_at)
    SELECT gen_random_uuid(), 'Person ' || n, 'person' || n || '@example.com', 'Engines', 'Engineer',
      TIMESTAMPTZ '2026-01-01Z' + n * 7 % 40 * INTERVAL '1 day' FROM generate_series(1, 40) n`);
  studio = await startStudio({ DATABASE_URL: database.webUrl, DATABASE_ADMIN_URL: database.adminRoleUrl });
});

afterAll(async () => {
  await studio.stop();
  await database.drop();
});

async function openStudio(): Promise<WatchedPage> {
  const page = await openPage();
  await page.goto(studio.url);
  await cell(page, "name").waitFor();
  return page;
}

/** @param row zero-based. */
function cell(page: Page, column: string, row = 0): Locator {
  return page.locator(`td[data-grid-row-index="${row}"][data-grid-column-id="${column}"]`);
}

/** Returns the columns from left to right, as shown on the screen. */
async function columnsOf(page: Page): Promise<string[]> {
  const cells = await page.locator('td[data-grid-row-index="0"]:not([data-select])').all();
  const placed = await Promise.all(
    cells.map(async (one) => ({
      column: (await one.getAttribute("data-grid-column-id")) as string,
      x: (await one.boundingBox())?.x as number,
    })),
  );
  return placed.toSorted((left, right) => left.x - right.x).map(({ column }) => column);
}

async function expectNewestEntries(page: Page): Promise<void> {
  const newest = await database.query("SELECT name FROM earlyaccess ORDER BY created_at DESC LIMIT 3");
  for (const [row, { name }] of newest.entries()) expect(await cell(page, "name", row).innerText()).toBe(name);
  const columns = await columnsOf(page);
  expect(columns.slice(0, 6)).toEqual(["created_at", "name", "email", "company", "job_title", "status"]);
  expect(columns.slice(6, 8)).toEqual(["confirmed_at", "mail_refusal"]);
  expect(columns.slice(8, 11)).toEqual(["suspected_spam", "disposable_email", "unusual_volume"]);
  const others = ["id", "batch", "erasure_hash", "import_id", "mailed_at", "notice_id", "token_hash"];
  expect(columns.slice(-others.length)).toEqual(others);
}

async function saveEdit(page: Page): Promise<void> {
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Save 1 row" }).click();
  await page.getByRole("button", { name: "yes, write to db" }).click();
}

it("opens with the newest entries and the columns for admins first, and sends no request to other hosts", async () => {
  const page = await openStudio();
  await expectNewestEntries(page);
  expect(page.sentRequests.filter((request) => !request.includes(` ${studio.url}`))).toEqual([]);
});

it("shows the newest entries first after a visit to another table", async () => {
  const page = await openStudio();
  await page.getByRole("link", { name: "earlyaccess_status_changes" }).click();
  await page.getByText("old_status").waitFor();
  await page.getByRole("link", { name: "earlyaccess", exact: true }).click();
  await cell(page, "name").waitFor();
  await expectNewestEntries(page);
});

it("scrolls to the last column", async () => {
  const page = await openStudio();
  await cell(page, "token_hash").scrollIntoViewIfNeeded();
  await cell(page, "token_hash").click();
  expect(await cell(page, "token_hash").getAttribute("data-focused")).toBe("true");
});

it("stores a status edit, and records the admin role in the status history", async () => {
  const page = await openStudio();
  const email = await cell(page, "email").innerText();
  await cell(page, "status").dblclick();
  await page.getByRole("button", { name: "invited" }).click();
  await saveEdit(page);
  await page.getByText("Row saved successfully").waitFor();
  await page.reload();
  await cell(page, "status").getByText("invited").waitFor();
  expect(
    await database.query(`
      SELECT email, changed_by, old_status, new_status
      FROM earlyaccess_status_changes JOIN earlyaccess ON earlyaccess.id = entry_id`),
  ).toEqual([
    { email, changed_by: new URL(database.adminRoleUrl).username, old_status: "waiting", new_status: "invited" },
  ]);
});

it("deletes an entry", async () => {
  const page = await openStudio();
  const email = await cell(page, "email", 2).innerText();
  await page.locator('td[data-select="true"]').nth(2).click();
  await page.getByRole("button", { name: "Delete 1 row" }).click();
  await page.getByRole("button", { name: "delete", exact: true }).click();
  await page.getByText(email).waitFor({ state: "detached" });
  expect(await database.query("SELECT FROM earlyaccess WHERE email = $1", [email])).toEqual([]);
});

it("does not edit a name, and shows the error from Postgres", async () => {
  const page = await openStudio();
  const before = await database.query("SELECT name FROM earlyaccess ORDER BY id");
  await cell(page, "name").dblclick();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("Mallory");
  await saveEdit(page);
  await page.getByText('"update" operation failed').waitFor();
  await page.getByRole("button", { name: "Console" }).click();
  await page.getByText("permission denied for table earlyaccess").waitFor();
  expect(await database.query("SELECT name FROM earlyaccess ORDER BY id")).toEqual(before);
});

it("does not drop the table in the SQL view, and shows the error from Postgres", async () => {
  const page = await openStudio();
  await page.getByRole("link", { name: "SQL", exact: true }).click();
  await page.locator(".cm-content").click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("DROP TABLE earlyaccess;");
  await page.keyboard.press("Escape"); // Closes the suggestions.
  await page.getByRole("button", { name: "Run SQL" }).click();
  const message = page.getByText("Query error:").locator("..");
  await message.waitFor();
  expect(await message.innerText()).toContain("must be owner of table earlyaccess");
});
