// The links of a confirmation mail, from the form through the worker and a real SMTP server back to a browser.
import { expect, it, onTestFinished } from "vitest";
import { openPage } from "../support/browser.ts";
import { urlsOf } from "../support/run.ts";
import { startSite } from "../support/site.ts";
import { createMailFixture } from "../support/worker.ts";
import { parseMail } from "../support/mail-server.ts";

const fixture = createMailFixture();

const entries = () =>
  fixture.database.query("SELECT email, confirmed_at IS NOT NULL AS confirmed FROM earlyaccess ORDER BY email");

it("the links of a mail confirm the entry, and later remove it", async () => {
  const env = { ...urlsOf(fixture.database), WORKER_DATABASE_URL: fixture.database.workerUrl };
  const site = await startSite({
    env: { ...fixture.settings(), ...env, SMTP_URL: "", PUBLIC_URL: "http://localhost:3000" },
  });
  onTestFinished(() => void site.process.kill("SIGKILL"));
  const { url } = site;
  await fixture.startWorker({ PUBLIC_URL: url });
  const page = await openPage({ url });
  await page.getByLabel("Name").fill("Ada");
  await page.getByLabel("Email").fill("ada@example.com");
  await page.getByLabel("Company").fill("Engines");
  const response = page.waitForResponse("**/api/earlyaccess");
  await page.locator("form button[type=submit]").click();
  expect(await (await response).json()).not.toHaveProperty("undo");
  await page.getByText("Please check your inbox").waitFor();
  await page.locator(".panel").getByText("The team will reach out once the Beta version is ready.").waitFor();
  expect(await page.getByText("Undo").count()).toBe(0);
  await fixture.mailed(1);
  const { html } = parseMail(fixture.server.mails[0]?.raw ?? "");
  const links = Array.from(html.matchAll(/href="(http[^"]+)"/g), ([, link = ""]) => link);
  const [confirm = "", leave = ""] = links;
  expect(links).toHaveLength(2);

  await page.goto(confirm);
  await page.getByRole("button", { name: "Confirm my address" }).click();
  await page.getByRole("heading", { name: "Your address is confirmed" }).waitFor();
  expect(await entries()).toEqual([{ email: "ada@example.com", confirmed: true }]);

  await page.goto(leave);
  await page.getByRole("button", { name: "Leave the list" }).press("Enter");
  await page.getByText("The sign-up behind this link is no longer on the early access list.").waitFor();
  expect(await entries()).toEqual([]);

  await page.goto(confirm);
  await page.getByRole("button", { name: "Confirm my address" }).click();
  await page.getByRole("heading", { name: "This link no longer works" }).waitFor();
  await page.getByRole("link", { name: "Go to the home page" }).click();
  expect(page.url()).toBe(`${url}/`);
  expect(page.messages).toEqual([]);
});
