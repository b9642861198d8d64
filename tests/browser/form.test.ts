// The form in a real browser, hydrated: the whole sign-up and each way it fails.
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { launchBrowser, openPage, type WatchedPage } from "../support/browser.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { startSite, type Site } from "../support/site.ts";
import { openWire, type Wire } from "../support/tcp-proxy.ts";

let database: TestDatabase;
let wire: Wire;
let site: Site;
let browser: Browser;
let page: WatchedPage;

beforeAll(async () => {
  database = await createTestDatabase();
  wire = await openWire(database.webUrl);
  site = await startSite({
    env: { DATABASE_URL: wire.url(database.webUrl), DATABASE_OWNER_URL: database.ownerUrl, SIGNUP_LIMIT: "1000" },
  });
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser.close();
  await site.stop();
  await wire.cut();
  await database.drop();
});

beforeEach(async () => {
  await database.query("TRUNCATE earlyaccess");
  page = await openPage(browser);
  await page.goto(site.url);
});

afterEach(() => page.context().close());

const typed = { Name: "Ada", Email: "ada@example.com", Company: "Engines", "Job title (optional)": "Engineer" };
const field = (label: string) => page.getByLabel(label, { exact: false });
const button = () => page.locator("form button");
const toast = () => page.locator("[data-sonner-toast]");
const posts = () => page.sent.filter((request) => request.startsWith("POST"));

async function fill(changes: Partial<typeof typed> = {}) {
  for (const [label, value] of Object.entries({ ...typed, ...changes })) await field(label).fill(value);
}

async function values() {
  return Promise.all(Object.keys(typed).map((label) => field(label).inputValue()));
}

/** React owns the form: until then it posts as plain HTML. */
async function hydrated() {
  await page.locator("#early-access").scrollIntoViewIfNeeded();
  await page.waitForFunction(() => {
    const form = document.querySelector("form") as HTMLFormElement;
    return Object.keys(form).some((key) => key.startsWith("__reactProps"));
  });
}

describe("a sign-up", () => {
  it("disables the button, clears the form, says so in a toast and in the page, and logs nothing", async () => {
    await hydrated();
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route("**/api/earlyaccess", async (route) => {
      await held;
      await route.continue();
    });
    await fill();
    await button().click();
    await page.getByRole("button", { name: "Joining...", disabled: true }).waitFor();
    release();
    await toast().waitFor();
    expect(await toast().locator("[data-title]").textContent()).toBe("Welcome to the future! 🚀");
    expect(await toast().locator("[data-description]").textContent()).toBe(
      "You're now on the early access list. We'll notify you when we launch!",
    );
    expect(await button().textContent()).toBe("Get Early Access");
    expect(await button().isEnabled()).toBe(true);
    expect(await values()).toEqual(["", "", "", ""]);
    expect(await page.locator(".joined h3").textContent()).toBe("Welcome to the future! 🚀");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Welcome to the future! 🚀");
    expect(await database.query("SELECT name, email, company, job_title FROM earlyaccess")).toEqual([
      { name: "Ada", email: "ada@example.com", company: "Engines", job_title: "Engineer" },
    ]);
    expect(page.complaints).toEqual([]);
    await toast().waitFor({ state: "detached" }); // After its 4 s.
    expect(await page.locator(".joined h3").textContent()).toBe("Welcome to the future! 🚀");
  });

  it("by a program that fills in every field is stored with a flag, and looks like any other", async () => {
    await hydrated();
    await fill();
    expect(await page.getByRole("textbox").count()).toBe(4);
    const hidden = page.locator(".unseen");
    expect([await hidden.textContent(), await hidden.boundingBox()]).toEqual([
      "Leave this empty",
      expect.objectContaining({ width: 1, height: 1 }),
    ]);
    await page.evaluate(() => ((document.querySelector("[name=message]") as HTMLInputElement).value = "Buy"));
    await button().click();
    await toast().waitFor();
    expect(await database.query("SELECT suspected_spam FROM earlyaccess")).toEqual([{ suspected_spam: true }]);
  });

  it("says which site and campaign led here", async () => {
    await page.route("http://news.example/", (route) =>
      route.fulfill({ contentType: "text/html", body: `<a href="${site.url}/?utm_source=news#early-access">x</a>` }),
    );
    await page.goto("http://news.example/");
    await page.locator("a").click();
    await hydrated();
    await fill();
    await button().click();
    await toast().waitFor();
    expect(await database.query("SELECT utm_source, referrer_host FROM earlyaccess")).toEqual([
      { utm_source: "news", referrer_host: "news.example" },
    ]);
  });

  it("is sent once by a double click", async () => {
    await hydrated();
    await fill();
    await page.evaluate(() => {
      const form = document.querySelector("form") as HTMLFormElement;
      form.requestSubmit(); // Faster than any double click: before React disables the button.
      form.requestSubmit();
    });
    await toast().first().waitFor();
    expect(posts()).toHaveLength(1);
    expect(await database.query("SELECT name FROM earlyaccess")).toHaveLength(1);
  });

  it("can follow another one, with three toasts at most", async () => {
    await hydrated();
    for (let i = 1; i <= 4; i++) {
      await fill({ Email: `ada${i}@example.com` });
      await Promise.all([page.waitForResponse("**/api/earlyaccess"), button().click()]);
      await page.waitForFunction(() => (document.querySelector("form input") as HTMLInputElement).value === "");
      await toast().first().waitFor();
      await page.evaluate(() => {
        // As under a pointer: their time stands still, so that none has gone when the last one comes.
        const list = document.querySelector("[data-sonner-toaster]") as HTMLElement;
        list.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
      });
    }
    expect(await database.query("SELECT name FROM earlyaccess")).toHaveLength(4);
    expect(await toast().count()).toBe(4);
    expect(await page.locator("[data-sonner-toast][data-visible=true]").count()).toBe(3);
  });

  describe("before React took over", () => {
    let slow: WatchedPage;
    let release: () => void;

    /** Holds React back until `release`. */
    beforeEach(async () => {
      slow = await openPage(browser);
      const held = new Promise<void>((resolve) => (release = resolve));
      await slow.route("**/hydrate-*.js", async (route) => {
        await held;
        const response = await route.fetch();
        // Sent by a visitor in the very moment: React is called, and has not yet taken over.
        const late = "globalThis.submitLate && document.querySelector('form').requestSubmit();";
        await route.fulfill({ response, body: (await response.text()) + late });
      });
      await slow.goto(site.url);
    });

    afterEach(async () => {
      // The page that answers a plain post asks for React as well.
      await slow.unrouteAll({ behavior: "ignoreErrors" });
      await slow.context().close();
    });

    const fillSlow = async () => {
      for (const [label, value] of Object.entries(typed)) await slow.getByLabel(label, { exact: false }).fill(value);
    };
    const joined = () => database.query("SELECT name, email FROM earlyaccess");

    it("what was typed is kept by it", async () => {
      await slow.getByLabel("Name").fill("Typed early");
      release();
      await slow.waitForFunction(() =>
        Object.keys(document.querySelector("form") as object).some((key) => key.startsWith("__reactProps")),
      );
      expect(await slow.getByLabel("Name").inputValue()).toBe("Typed early");
      expect(slow.complaints).toEqual([]);
    });

    it("the form is sent as plain HTML, once", async () => {
      await fillSlow();
      await slow.locator("form button").click();
      await slow.waitForURL("**/?joined*");
      release();
      await slow.locator(".joined h3").waitFor();
      expect(slow.sent.filter((request) => request.startsWith("POST"))).toHaveLength(1);
      expect(await joined()).toEqual([{ name: "Ada", email: "ada@example.com" }]);
    });

    it("sent in the moment in which it does, it makes one sign-up", async () => {
      await fillSlow();
      await slow.evaluate(() => Object.assign(globalThis, { submitLate: true }));
      release();
      await slow.locator(".joined h3").waitFor();
      expect(slow.sent.filter((request) => request.startsWith("POST"))).toHaveLength(1);
      expect(await joined()).toEqual([{ name: "Ada", email: "ada@example.com" }]);
      expect(slow.complaints).toEqual([]);
    });
  });
});

describe("a failure", () => {
  const expectFailure = async (logged: RegExp) => {
    await toast().first().waitFor();
    expect(await toast().locator("[data-title]").textContent()).toBe("Error");
    expect(await toast().locator("[data-description]").textContent()).toBe("Something went wrong. Please try again.");
    expect(await toast().getAttribute("data-type")).toBe("error");
    expect(await button().textContent()).toBe("Get Early Access");
    expect(await button().isEnabled()).toBe(true);
    expect(page.complaints.some((complaint) => logged.test(complaint))).toBe(true);
    // Chromium itself reports a failed request; nothing else may be there.
    const others = page.complaints.filter((text) => !logged.test(text) && !text.includes("Failed to load resource"));
    expect(others).toEqual([]);
  };

  it("422: the server's errors stand at their fields, and the first has the focus", async () => {
    await hydrated();
    await fill({ Email: "ada@localhost", Company: " " });
    await button().click();
    await expectFailure(/^error: Joining the waitlist failed with status 422/);
    expect(await values()).toEqual(["Ada", "ada@localhost", " ", "Engineer"]);
    for (const [name, message] of [
      ["email", "Enter an email address like name@example.com."],
      ["company", "Enter your company."],
    ]) {
      const input = page.locator(`[name=${name}]`);
      expect(await input.getAttribute("aria-invalid")).toBe("true");
      const error = page.locator(`#${await input.getAttribute("aria-describedby")}`);
      expect(await error.textContent()).toBe(message);
    }
    expect(await page.locator("[name=name]").getAttribute("aria-invalid")).toBeNull();
    expect(await page.evaluate(() => document.activeElement?.getAttribute("name"))).toBe("email");
    await fill();
    await button().click();
    await page.getByText("Welcome to the future! 🚀").first().waitFor();
    expect(await page.locator("[aria-invalid]").count()).toBe(0);
  });

  it("503: everything is kept, and the next try succeeds", async () => {
    await hydrated();
    await fill();
    await wire.cut();
    await button().click();
    await expectFailure(/^error: Joining the waitlist failed with status 503/);
    expect(await values()).toEqual(Object.values(typed));
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("BUTTON");
    await wire.mend();
    await button().click();
    await page.locator(".joined").waitFor();
    expect(await database.query("SELECT name FROM earlyaccess")).toHaveLength(1);
  });

  it("no network: everything is kept", async () => {
    await hydrated();
    await fill();
    await page.waitForLoadState("networkidle");
    await page.context().setOffline(true);
    await button().click();
    await expectFailure(/^error: Joining the waitlist failed:/);
    expect(await values()).toEqual(Object.values(typed));
  });

  it("no answer: it ends after 15 s with everything kept", async () => {
    await hydrated();
    await fill();
    await page.route("**/api/earlyaccess", () => undefined);
    await button().click();
    await page.getByRole("button", { name: "Joining...", disabled: true }).waitFor();
    await expectFailure(/^error: Joining the waitlist failed: TimeoutError/);
    expect(await values()).toEqual(Object.values(typed));
  });

  it("an answer that is not ours: a network's log-in page stores nothing, and nobody is told so", async () => {
    await hydrated();
    await fill();
    await page.route("**/api/earlyaccess", (route) => route.fulfill({ contentType: "text/html", body: "Log in" }));
    await button().click();
    await expectFailure(/^error: Joining the waitlist failed with status 200/);
    expect(await values()).toEqual(Object.values(typed));
  });

  it("no toast library: the form itself says it", async () => {
    await page.route("**/notify-*.js", (route) => route.abort());
    await hydrated();
    await fill({ Email: "ada@localhost" });
    await button().click();
    await page.locator("form").getByText("Something went wrong. Please try again.").waitFor();
    expect(await toast().count()).toBe(0);
    expect(page.complaints.filter((complaint) => complaint.startsWith("uncaught"))).toEqual([]);
  });
});

describe("the browser's own checks", () => {
  it("stop an empty or malformed form before it is sent", async () => {
    await hydrated();
    await button().click();
    await fill({ Email: "nonsense" });
    await button().click();
    expect(await page.evaluate(() => document.activeElement?.getAttribute("name"))).toBe("email");
    expect(posts()).toEqual([]);
  });

  it("know each field", async () => {
    const attributes = await page
      .locator("form .field input")
      .evaluateAll((inputs) =>
        (inputs as HTMLInputElement[]).map((input) =>
          [input.name, input.type, input.required, input.maxLength, input.autocomplete, input.inputMode].join(" "),
        ),
      );
    expect(attributes).toEqual([
      "name text true 100 name text",
      "email email true 254 email email",
      "company text true 200 organization text",
      "job_title text false 100 organization-title text",
    ]);
    expect(await page.locator("form .field label").allTextContents()).toEqual([
      "Name *",
      "Email *",
      "Company *",
      "Job title (optional)",
    ]);
  });
});
