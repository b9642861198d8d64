// The links of a confirmation mail, from the form through the worker and a real SMTP server back to a browser.
import { expect, it, onTestFinished } from "vitest";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { createMailFixture } from "../support/mail-fixture.ts";
import { parseMail } from "../support/mail-server.ts";
import { startSite } from "../support/site.ts";

const fixture = createMailFixture();

const entries = () =>
  fixture.database.query("SELECT email, confirmed_at IS NOT NULL AS confirmed FROM earlyaccess ORDER BY email");

async function startMailingSite(): Promise<string> {
  const { webUrl, ownerUrl, workerUrl } = fixture.database;
  const env = { ...fixture.settings(), DATABASE_URL: webUrl, DATABASE_OWNER_URL: ownerUrl, SMTP_URL: "" };
  const site = await startSite({
    env: { ...env, WORKER_DATABASE_URL: workerUrl, PUBLIC_URL: "http://localhost:3000" },
  });
  onTestFinished(() => void site.process.kill("SIGKILL"));
  await fixture.startWorker({ PUBLIC_URL: site.url });
  return site.url;
}

async function join(page: WatchedPage, url: string) {
  await page.goto(url);
  for (const [label, value] of [
    ["Name", "Ada"],
    ["Email", "ada@example.com"],
    ["Company", "Engines"],
  ] as const) {
    await page.getByLabel(label).fill(value);
  }
  await page.locator("form button[type=submit]").click();
  await page.getByRole("heading", { name: "Welcome to the future! 🚀" }).waitFor();
  await page.getByText("Please check your inbox").waitFor();
  expect(await page.getByText("Undo").count()).toBe(0);
}

/** Returns the links of the mail, from its HTML; the text has the same. */
async function readLinks(): Promise<[confirm: string, leave: string]> {
  await fixture.mailed(1);
  const { html, text } = parseMail(fixture.server.mails[0]?.raw ?? "");
  const links = [...html.matchAll(/href="(http[^"]+)"/g)].map(([, link]) => link as string);
  expect(links).toHaveLength(2);
  for (const link of links) expect(text).toContain(link);
  return links as [string, string];
}

it("the links of a mail confirm the entry, and later remove it", async () => {
  const url = await startMailingSite();
  const page = await openPage();
  await join(page, url);
  const [confirm, leave] = await readLinks();

  // A mail scanner opens every link.
  for (const link of [confirm, leave]) expect((await fetch(link)).status).toBe(200);
  expect(await entries()).toEqual([{ email: "ada@example.com", confirmed: false }]);

  const plant = () => page.locator(".message-plant").innerHTML();
  const plants = new Set<string>();
  for (const time of ["first", "second"]) {
    await page.goto(confirm);
    plants.add(await plant());
    expect(await entries()).toEqual([{ email: "ada@example.com", confirmed: time === "second" }]);
    await page.getByRole("button", { name: "Confirm my address" }).click();
    await page.getByRole("heading", { name: "Your address is confirmed" }).waitFor();
    expect(await page.title()).toBe("Your address is confirmed – Perennial");
    plants.add(await plant());
    expect(await entries()).toEqual([{ email: "ada@example.com", confirmed: true }]);
  }

  await page.goto(leave);
  await page.getByRole("button", { name: "Leave the list" }).press("Enter");
  await page.getByText("The entry that this link belongs to is no longer on the early access list.").waitFor();
  expect(await entries()).toEqual([]);

  await page.goto(confirm);
  await page.getByRole("button", { name: "Confirm my address" }).click();
  await page.getByRole("heading", { name: "This link has expired" }).waitFor();
  plants.add(await plant());
  expect(plants.size).toBe(3);
  await page.getByRole("link", { name: "Go to the home page" }).click();
  expect(page.url()).toBe(`${url}/`);
  expect(page.messages).toEqual([]);
});
