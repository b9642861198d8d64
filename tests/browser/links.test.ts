// The links of a confirmation mail, from the form through the worker and a real SMTP server back to a browser.
import { expect, it, onTestFinished } from "vitest";
import { earlyAccess, linkPages, linkPagesHome } from "../../client/shared/content.ts";
import { formField, openPage } from "../support/browser.ts";
import { urlsOf } from "../support/run.ts";
import { ready, startSite } from "../support/site.ts";
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
  await ready(site);
  const { url } = site;
  await fixture.startWorker({ PUBLIC_URL: url });
  const page = await openPage({ url });
  await formField(page, "name").fill("Ada");
  await formField(page, "email").fill("ada@example.com");
  await formField(page, "company").fill("Engines");
  const response = page.waitForResponse("**/api/earlyaccess");
  await page.locator("form button[type=submit]").click();
  expect(await (await response).json()).not.toHaveProperty("undo");
  await page.getByText(earlyAccess.success.inbox).waitFor();
  await page.locator(".panel").getByText(earlyAccess.betaJoined.what).waitFor();
  expect(await page.getByText(earlyAccess.success.undo).count()).toBe(0);
  await fixture.mailed(1);
  const { html } = parseMail(fixture.server.mails[0]?.raw ?? "");
  const links = Array.from(html.matchAll(/href="(http[^"]+)"/g), ([, link = ""]) => link);
  const [confirm = "", leave = ""] = links;
  expect(links).toHaveLength(2);

  await page.goto(confirm);
  await page.getByRole("button", { name: linkPages.confirm.button }).click();
  await page.getByRole("heading", { name: linkPages.confirmed.heading }).waitFor();
  expect(await entries()).toEqual([{ email: "ada@example.com", confirmed: true }]);

  await page.goto(leave);
  await page.getByRole("button", { name: linkPages.leave.button }).press("Enter");
  await page.getByText(linkPages.left.text).waitFor();
  expect(await entries()).toEqual([]);

  await page.goto(confirm);
  await page.getByRole("button", { name: linkPages.confirm.button }).click();
  await page.getByRole("heading", { name: linkPages.dead.heading }).waitFor();
  await page.getByRole("link", { name: linkPagesHome }).click();
  expect(page.url()).toBe(`${url}/`);
  expect(page.messages).toEqual([]);
});
