// Prisma Studio in a browser: the opening view, and an edit of a status.
import type { Locator, Page } from "playwright-core";
import { afterAll, expect, it } from "vitest";
import { migrate } from "../../server/database/migrate.ts";
import { openPage } from "../support/browser.ts";
import { startStudio } from "../support/site.ts";
import { createEmptyDatabase } from "../support/database.ts";

const database = await createEmptyDatabase();
await migrate({ ...database, adminUrl: database.adminRoleUrl });
// Neither the ids nor the physical order of the rows follow created_at.
await database.query(`
    INSERT INTO earlyaccess (id, name, email, company, job_title, created_at)
    SELECT gen_random_uuid(), 'Person ' || n, 'person' || n || '@example.com', 'Engines', 'Engineer',
      TIMESTAMPTZ '2026-01-01Z' + n * 7 % 40 * INTERVAL '1 day' FROM generate_series(1, 40) n`);
const studio = await startStudio({ DATABASE_URL: database.webUrl, DATABASE_ADMIN_URL: database.adminRoleUrl });

afterAll(() => studio.stop());

/** @param row zero-based. */
function cell(page: Page, column: string, row = 0): Locator {
  return page.locator(`td[data-grid-row-index="${row}"][data-grid-column-id="${column}"]`);
}

const isInWindow = (shown: Locator) => shown.evaluate((element) => element.getBoundingClientRect().right <= innerWidth);

it("Studio opens its address with the newest entries and the columns of a sign-up first, asks no other host, and stores a status", async () => {
  const page = await openPage({ url: /http:\S+/.exec(studio.stdout())?.[0] ?? "" });
  await cell(page, "name").waitFor();
  const newest = await database.query("SELECT name FROM earlyaccess ORDER BY created_at DESC LIMIT 3");
  for (const [row, { name }] of newest.entries()) expect(await cell(page, "name", row).innerText()).toBe(name);
  expect(page.sentRequests.filter((request) => !request.includes(` ${studio.url}`))).toEqual([]);
  for (const column of ["company", "job_title", "status"]) expect(await isInWindow(cell(page, column))).toBe(true);
  const email = await cell(page, "email").innerText();
  await cell(page, "status").dblclick();
  await page.getByRole("button", { name: "invited" }).click();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Save 1 row" }).click();
  await page.getByRole("button", { name: "yes, write to db" }).click();
  await page.getByText("Row saved successfully").waitFor();
  const changes = await database.query(`
    SELECT email, changed_by, old_status, new_status
    FROM earlyaccess_status_changes JOIN earlyaccess ON earlyaccess.id = entry_id`);
  const changed_by = new URL(database.adminRoleUrl).username;
  expect(changes).toEqual([{ email, changed_by, old_status: "waiting", new_status: "invited" }]);
  expect(await studio.stop("SIGHUP")).toBe(0); // The terminal was closed.
});
