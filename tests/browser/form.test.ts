// The hydrated form in a browser: the sign-up and every failure.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { hydrated, hydrateForm, openPage, type WatchedPage } from "../support/browser.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { startSite, type Site } from "../support/site.ts";
import { openWire, type Wire } from "../support/tcp-proxy.ts";

let database: TestDatabase;
let wire: Wire;
let site: Site;
let page: WatchedPage;

beforeAll(async () => {
  database = await createTestDatabase();
  wire = await openWire(database.webUrl);
  site = await startSite({
    env: { DATABASE_URL: wire.url(database.webUrl), DATABASE_OWNER_URL: database.ownerUrl, SIGNUP_LIMIT: "1000" },
  });
});

afterAll(async () => {
  await site.stop();
  await wire.cut();
  await database.drop();
});

beforeEach(async () => {
  await database.query("TRUNCATE earlyaccess");
  page = await openPage();
  await page.goto(site.url);
});

const typed = { Name: "Ada", Email: "ada@example.com", Company: "Engines", "Job title (optional)": "Engineer" };
const field = (label: string) => page.getByLabel(label, { exact: false });
const button = () => page.locator("form button[type=submit]");
const toast = () => page.locator("[data-sonner-toast]");
const successHeading = () => page.getByRole("heading", { level: 2, name: "Welcome to the future! 🚀" });
const posts = () => page.sentRequests.filter((request) => request.startsWith("POST") && !request.includes("/api/view"));

async function fill(changes: Partial<typeof typed> = {}) {
  for (const [label, value] of Object.entries({ ...typed, ...changes })) await field(label).fill(value);
}

async function submit(changes: Partial<typeof typed> = {}) {
  await fill(changes);
  await button().click();
}

async function values() {
  return Promise.all(Object.keys(typed).map((label) => field(label).inputValue()));
}

/** Returns the texts of the live regions that a screen reader announces. */
const announced = () =>
  page
    .locator("output, [role=status], [role=alert], [aria-live]:not([aria-live=off])")
    .evaluateAll((regions) => regions.map((region) => region.textContent).filter((text) => text !== ""));

describe("a sign-up", () => {
  it("disables the button, shows the success in a toast and in place of the form, and logs nothing", async () => {
    await hydrateForm(page);
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route("**/api/earlyaccess", async (route) => {
      await held;
      await route.continue();
    });
    await submit();
    await page.getByRole("button", { name: "Joining...", disabled: true }).waitFor();
    release();
    await toast().waitFor();
    expect(await toast().locator("[data-title]").textContent()).toBe("Welcome to the future! 🚀");
    expect(await toast().locator("[data-description]").textContent()).toBe(
      "You're now on the early access list. We'll notify you when we launch!",
    );
    expect(await page.locator("form input").count()).toBe(0);
    await successHeading().waitFor();
    expect(await database.query("SELECT name, email, company, job_title FROM earlyaccess")).toEqual([
      { name: "Ada", email: "ada@example.com", company: "Engines", job_title: "Engineer" },
    ]);
    expect(page.messages).toEqual([]);
    await toast().waitFor({ state: "detached" }); // It closes after 4 s.
    await successHeading().waitFor();
  });

  it("logs the data of the response for developers, without the token", async () => {
    await hydrateForm(page);
    const logged = page.waitForEvent("console", (message) => message.text().startsWith("Joined the waitlist:"));
    await submit();
    const message = await logged;
    expect(message.type()).toBe("debug");
    expect(await message.args()[1]?.jsonValue()).toEqual({
      message: "You're now on the early access list. We'll notify you when we launch!",
    });
    expect(page.messages).toEqual([]);
  });

  it("is announced once: focus moves to the heading, and the toast's live region is silent", async () => {
    await hydrateForm(page);
    await submit();
    await toast().waitFor();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("early-access-heading");
    const text = page.locator(`#${await successHeading().getAttribute("aria-describedby")}`);
    expect(await text.textContent()).toBe("You're now on the early access list. We'll notify you when we launch!");
    expect(await announced()).toEqual([]);
  });

  it("leaves focus where the visitor moved it, and the toast announces the success", async () => {
    await hydrateForm(page);
    await page.route("**/api/earlyaccess", async (route) => {
      await page.getByRole("link", { name: "Pricing" }).focus();
      await route.continue();
    });
    await submit();
    await toast().waitFor();
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Pricing");
    expect(await announced()).toEqual([expect.stringContaining("Welcome to the future! 🚀")]);
  });

  it("is shown again after a reload, and the address keeps the campaign", async () => {
    await page.goto(`${site.url}/?utm_source=news&utm_term=a%20b`);
    await hydrateForm(page);
    await submit();
    await toast().waitFor();
    const url = new URL(page.url());
    expect(Object.fromEntries(url.searchParams)).toEqual({ utm_source: "news", utm_term: "a b", joined: "" });
    expect(await page.title()).toBe("You’re on the list – Perennial");
    await page.reload();
    await successHeading().waitFor();
    expect(await page.locator("form input").count()).toBe(0);
    expect(await page.title()).toBe("You’re on the list – Perennial");
  });

  it.each(["before", "after"])("can be followed by one for a colleague (%s a reload)", async (time) => {
    await page.goto(`${site.url}/?utm_source=news`);
    await hydrateForm(page);
    await submit();
    await successHeading().waitFor();
    if (time === "after") {
      await page.reload();
      await hydrateForm(page);
    }
    await page.evaluate(() => Object.assign(globalThis, { isSameDocument: true }));
    await page.getByRole("link", { name: "Add a colleague" }).click();
    expect(page.url()).toBe(`${site.url}/?utm_source=news#early-access`);
    expect(await page.title()).toBe("Perennial: the AI-native customer retention engine");
    expect(await values()).toEqual(["", "", "", ""]);
    expect(await page.evaluate(() => document.activeElement?.getAttribute("name"))).toBe("name");
    expect(await page.evaluate(() => "isSameDocument" in globalThis)).toBe(true);
    await submit({ Email: "grace@example.com" });
    await successHeading().waitFor();
    expect(await database.query("SELECT email, utm_source FROM earlyaccess ORDER BY email")).toEqual([
      { email: "ada@example.com", utm_source: "news" },
      { email: "grace@example.com", utm_source: "news" },
    ]);
  });

  it("can be undone, which shows the form again and moves focus to the message", async () => {
    await page.goto(`${site.url}/?utm_source=news`);
    await hydrateForm(page);
    await submit();
    await page.getByRole("button", { name: "Wrong address? Undo" }).click();
    await page.locator(":focus", { hasText: "Your sign-up has been undone" }).waitFor();
    expect(await database.query("SELECT FROM earlyaccess")).toEqual([]);
    expect(page.url()).toBe(`${site.url}/?utm_source=news#early-access`);
    expect(await values()).toEqual(["", "", "", ""]);
    await submit({ Email: "right@example.com" });
    await successHeading().waitFor();
    expect(await database.query("SELECT email FROM earlyaccess")).toEqual([{ email: "right@example.com" }]);
    expect(page.messages).toEqual([]);
  });

  it("stays, and says so, if the undo fails", async () => {
    await hydrateForm(page);
    await submit();
    await page.route("**/leave*", (route) => route.abort());
    await page.getByRole("button", { name: "Wrong address? Undo" }).click();
    await page.getByRole("status").filter({ hasText: "Something went wrong. Please try again." }).waitFor();
    expect(await database.query("SELECT email FROM earlyaccess")).toHaveLength(1);
    await page.unroute("**/leave*");
    await page.getByRole("button", { name: "Wrong address? Undo" }).click();
    await page.getByText("Your sign-up has been undone").waitFor();
    expect(await database.query("SELECT FROM earlyaccess")).toEqual([]);
  });

  it("of a bot that fills in the honeypot field is stored with a flag and gets the same response", async () => {
    await hydrateForm(page);
    await fill();
    expect(await page.getByRole("textbox").count()).toBe(4);
    const hidden = page.locator(".visually-hidden[aria-hidden]");
    expect([await hidden.textContent(), await hidden.boundingBox()]).toEqual([
      "Leave this empty",
      expect.objectContaining({ width: 1, height: 1 }),
    ]);
    await page.evaluate(() => ((document.querySelector("[name=message]") as HTMLInputElement).value = "Buy"));
    await button().click();
    await toast().waitFor();
    expect(await database.query("SELECT suspected_spam FROM earlyaccess")).toEqual([{ suspected_spam: true }]);
  });

  it("contains the referrer and the campaign", async () => {
    await page.route("http://news.example/", (route) =>
      route.fulfill({ contentType: "text/html", body: `<a href="${site.url}/?utm_source=news#early-access">x</a>` }),
    );
    await page.goto("http://news.example/");
    await page.locator("a").click();
    await hydrateForm(page);
    await submit();
    await toast().waitFor();
    expect(await database.query("SELECT utm_source, referrer_host FROM earlyaccess")).toEqual([
      { utm_source: "news", referrer_host: "news.example" },
    ]);
  });

  it("is sent once after a double click", async () => {
    await hydrateForm(page);
    await fill();
    await page.evaluate(() => {
      const form = document.querySelector("form") as HTMLFormElement;
      form.requestSubmit(); // Twice before React can disable the button.
      form.requestSubmit();
    });
    await toast().first().waitFor();
    expect(posts()).toHaveLength(1);
    expect(await database.query("SELECT name FROM earlyaccess")).toHaveLength(1);
  });

  it("can be repeated, and its toast replaces the one before", async () => {
    await hydrateForm(page);
    for (let i = 1; i <= 3; i++) {
      await fill({ Email: `ada${i}@example.com` });
      await button().press("Enter");
      await page.getByRole("link", { name: "Add a colleague" }).press("Enter");
      await page.locator("[data-sonner-toast][data-removed=false]").waitFor();
      // While the pointer is over them, toasts do not close by themselves.
      await page.locator("[data-sonner-toaster]").dispatchEvent("mouseover");
    }
    expect(await database.query("SELECT name FROM earlyaccess")).toHaveLength(3);
    await page.waitForFunction(() => document.querySelectorAll("[data-sonner-toast]").length === 1);
  });

  describe("during the hydration", () => {
    let release: () => void;

    /** Delays the hydration until `release` is called. */
    beforeEach(async () => {
      const held = new Promise<void>((resolve) => (release = resolve));
      await page.route("**/hydrate-*.js", async (route) => {
        await held;
        const response = await route.fetch();
        // If a test sets submitLate, submit the form between the call of hydrateRoot and the end of the hydration.
        const late = "globalThis.submitLate && document.querySelector('form').requestSubmit();";
        await route.fulfill({ response, body: (await response.text()) + late });
      });
    });

    // The page after a plain form post fetches React, too.
    afterEach(() => page.unrouteAll({ behavior: "ignoreErrors" }));

    const expectOneSignUp = async () => {
      await successHeading().waitFor();
      expect(posts()).toHaveLength(1);
      expect(await database.query("SELECT name, email FROM earlyaccess")).toEqual([
        { name: "Ada", email: "ada@example.com" },
      ]);
    };

    it("typed text is kept", async () => {
      await field("Name").fill("Typed early");
      release();
      await hydrated(page);
      expect(await field("Name").inputValue()).toBe("Typed early");
      expect(page.messages).toEqual([]);
    });

    it("the form is sent once, as a plain form", async () => {
      await submit();
      await page.waitForURL("**/?joined*");
      release();
      await expectOneSignUp();
    });

    it("a form that is sent between hydrateRoot and the end of the hydration makes one sign-up", async () => {
      await fill();
      await page.evaluate(() => Object.assign(globalThis, { submitLate: true }));
      release();
      await expectOneSignUp();
      expect(page.messages).toEqual([]);
    });
  });
});

describe("a mistyped address", () => {
  const question = () => page.getByRole("status").filter({ hasText: "Did you mean" });
  const answer = (name: string) => page.getByRole("button", { name });
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute("name"));

  beforeEach(() => hydrateForm(page));

  it("leads to a question when the field loses focus, in a live region that existed before", async () => {
    await field("Name").focus();
    await page.waitForLoadState("networkidle");
    const region = page.locator(".visually-hidden > output").first();
    expect(await region.textContent()).toBe("");
    await region.evaluate((element) => element.setAttribute("data-early", ""));
    await field("Email").fill("Ada@Gmial.com");
    await field("Email").press("Tab");
    await question().waitFor();
    expect(await question().textContent()).toBe("Did you mean ada@gmail.com?");
    expect(await question().getAttribute("data-early")).toBe("");
    expect(await focused()).toBe("company");
    expect(await announced()).toEqual(["Did you mean ada@gmail.com?"]);
  });

  it("is replaced by Use it, which returns to the field", async () => {
    await fill({ Email: "ada@gmial.com" });
    await answer("Use it").click();
    expect([await field("Email").inputValue(), await focused()]).toEqual(["ada@gmail.com", "email"]);
    expect(await question().count()).toBe(0);
    await field("Company").focus();
    await button().click();
    await successHeading().waitFor();
    expect(await database.query("SELECT email FROM earlyaccess")).toEqual([{ email: "ada@gmail.com" }]);
  });

  it("is kept by Keep mine, without another question about it", async () => {
    await fill({ Email: "ada@gmial.com" });
    await answer("Keep mine").click();
    expect([await field("Email").inputValue(), await focused()]).toEqual(["ada@gmial.com", "email"]);
    await field("Company").focus();
    await field("Email").focus();
    await field("Company").focus();
    expect(await question().count()).toBe(0);
    await field("Email").fill("ada@gmal.com");
    await field("Company").focus();
    await question().waitFor();
    await field("Email").fill("ada@gmial.com");
    await button().click();
    await successHeading().waitFor();
    expect(await database.query("SELECT email FROM earlyaccess")).toEqual([{ email: "ada@gmial.com" }]);
  });

  it("does not keep the form from being sent: neither the question nor its appearance", async () => {
    await fill();
    await field("Email").fill("ada@gmial.com");
    await page.waitForLoadState("networkidle");
    const box = await button().boundingBox();
    await page.mouse.move((box?.x ?? 0) + 9, (box?.y ?? 0) + (box?.height ?? 0) - 3);
    await page.mouse.down(); // The field loses focus.
    await question().waitFor();
    await page.mouse.up();
    await successHeading().waitFor();
    expect(await database.query("SELECT email FROM earlyaccess")).toEqual([{ email: "ada@gmial.com" }]);
  });

  it("is asked about after the click that left the field", async () => {
    await fill({ Company: "" });
    await field("Email").fill("ada@gmial.com");
    await button().click(); // The browser refuses to send the form without a company.
    await question().waitFor();
    expect(posts()).toEqual([]);
  });

  it("is sent without a question if the suggestions do not load", async () => {
    page = await openPage();
    await page.route("**/suggested-address-*.js", (route) => route.abort());
    await page.goto(site.url);
    await hydrateForm(page);
    await submit({ Email: "ada@gmial.com" });
    await successHeading().waitFor();
    expect(page.messages.filter((message) => message.startsWith("uncaught"))).toEqual([]);
  });
});

it("the suggestions for mistyped addresses load when the form gets focus, not before", async () => {
  const loads = () => page.sentRequests.filter((request) => request.includes("suggested-address"));
  await hydrateForm(page);
  await page.waitForLoadState("networkidle");
  expect(loads()).toEqual([]);
  await Promise.all([page.waitForRequest("**/suggested-address-*.js"), field("Name").focus()]);
  expect(loads()).toHaveLength(1);
});

describe("a failure", () => {
  const expectFailure = async (logged: RegExp) => {
    await toast().first().waitFor();
    expect(await toast().locator("[data-title]").textContent()).toBe("Error");
    expect(await toast().locator("[data-description]").textContent()).toBe("Something went wrong. Please try again.");
    expect(await toast().getAttribute("data-type")).toBe("error");
    expect(await button().textContent()).toBe("Get Early Access");
    expect(await button().isEnabled()).toBe(true);
    expect(page.messages.some((message) => logged.test(message))).toBe(true);
    // Chromium logs each failed request; there must be no other messages.
    const others = page.messages.filter((text) => !logged.test(text) && !text.includes("Failed to load resource"));
    expect(others).toEqual([]);
  };

  it("422: each invalid field shows the server's error, and the first one has focus", async () => {
    await hydrateForm(page);
    await submit({ Email: "ada@localhost", Company: " " });
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
    await submit();
    await page.getByText("Welcome to the future! 🚀").first().waitFor();
    expect(await page.locator("[aria-invalid]").count()).toBe(0);
  });

  it("422: an error stays while its field is invalid, and disappears with the first valid value", async () => {
    await hydrateForm(page);
    await submit({ Email: "ada@localhost", Company: " " });
    const state = async (name: string) => [
      await page.locator(`[name=${name}]`).getAttribute("aria-invalid"),
      await page.locator(`#early-access-${name}-error`).count(),
    ];
    await page.locator("[name=email][aria-invalid]").waitFor();
    await field("Email").press("End");
    await page.keyboard.type(".");
    await field("Company").press("End");
    await page.keyboard.type(" ");
    expect([await state("email"), await state("company")]).toEqual([
      ["true", 1],
      ["true", 1],
    ]);
    await field("Email").press("End");
    await page.keyboard.type("e");
    expect([await state("email"), await state("company")]).toEqual([
      [null, 0],
      ["true", 1],
    ]);
    await field("Company").press("End");
    await page.keyboard.type("E");
    expect(await state("company")).toEqual([null, 0]);
  });

  it("503: the form keeps its values, and the next attempt succeeds", async () => {
    await hydrateForm(page);
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

  it("no network: the form keeps its values", async () => {
    await hydrateForm(page);
    await fill();
    await page.waitForLoadState("networkidle");
    await page.context().setOffline(true);
    await button().click();
    await expectFailure(/^error: Joining the waitlist failed:/);
    expect(await values()).toEqual(Object.values(typed));
  });

  it("no response: the sign-up fails after 15 s, and the form keeps its values", async () => {
    await hydrateForm(page);
    await fill();
    await page.route("**/api/earlyaccess", () => undefined);
    await button().click();
    await page.getByRole("button", { name: "Joining...", disabled: true }).waitFor();
    await expectFailure(/^error: Joining the waitlist failed: TimeoutError/);
    expect(await values()).toEqual(Object.values(typed));
  });

  it("a 200 of a captive portal: the sign-up fails, and the form keeps its values", async () => {
    await hydrateForm(page);
    await fill();
    await page.route("**/api/earlyaccess", (route) => route.fulfill({ contentType: "text/html", body: "Log in" }));
    await button().click();
    await expectFailure(/^error: Joining the waitlist failed with status 200/);
    expect(await values()).toEqual(Object.values(typed));
  });

  it("no toast library: the form shows the error", async () => {
    await page.route("**/toasts-*.js", (route) => route.abort());
    await hydrateForm(page);
    await fill();
    await wire.cut();
    await button().click();
    await page.locator("form").getByText("Something went wrong. Please try again.").waitFor();
    await wire.mend();
    expect(await toast().count()).toBe(0);
    expect(page.messages.filter((message) => message.startsWith("uncaught"))).toEqual([]);
  });
});

describe("the browser's own validation", () => {
  it("prevents that an empty or invalid form is sent", async () => {
    await hydrateForm(page);
    await button().click();
    await submit({ Email: "nonsense" });
    expect(await page.evaluate(() => document.activeElement?.getAttribute("name"))).toBe("email");
    expect(posts()).toEqual([]);
  });

  it("knows the constraints of each field", async () => {
    const attributes = await page
      .locator("form .field input")
      .evaluateAll((inputs) =>
        (inputs as HTMLInputElement[]).map((input) =>
          [
            input.name,
            input.type,
            input.required,
            input.maxLength,
            input.autocomplete,
            input.inputMode,
            input.enterKeyHint,
          ].join(" "),
        ),
      );
    expect(attributes).toEqual([
      "name text true 100 name text next",
      "email email true 254 email email next",
      "company text true 200 organization text next",
      "job_title text false 100 organization-title text send",
    ]);
    expect(await page.locator("form .field label").allTextContents()).toEqual([
      "Name *",
      "Email *",
      "Company *",
      "Job title (optional)",
    ]);
  });
});

it("the form is named after its section, and lists without markers keep their role", async () => {
  await page.getByRole("form", { name: "Be there from the first season" }).waitFor();
  const steps = page.locator("#early-access ol[role=list]");
  expect(await steps.locator("b").allTextContents()).toEqual([
    "You join the list",
    "We email you when the Beta is ready",
    "You get 3 months free",
  ]);
});

it("on a phone, the label of the focused field is below the navigation bar", async () => {
  page = await openPage({ viewport: { width: 390, height: 500 }, reducedMotion: "reduce" });
  await page.goto(`${site.url}/#early-access`);
  await page.locator("[name=job_title]").focus();
  const bar = await page.getByRole("banner").evaluate((element) => element.getBoundingClientRect().bottom);
  for (const name of ["company", "email", "name"]) {
    // Only the label of the field is under the bar.
    await page
      .locator(`[name=${name}]`)
      .evaluate((input, y) => scrollBy(0, input.getBoundingClientRect().top - y), bar + 20);
    await page.keyboard.press("Shift+Tab");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("name"))).toBe(name);
    const label = await page.locator(`label[for=early-access-${name}]`).boundingBox();
    expect(label?.y).toBeGreaterThanOrEqual(bar);
  }
});
