// The hydrated form in a browser: the sign-up, the question about a mistyped address, and every failure.
import type { Route } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  animationsFinished,
  hydrated,
  hydrateForm,
  openPage,
  sendFormTo,
  type WatchedPage,
} from "../support/browser.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { startSite, type Site } from "../support/site.ts";
import { openWire, type Wire } from "../support/tcp-proxy.ts";

let database: TestDatabase;
let wire: Wire;
let site: Site;
let closedSite: Site;
let page: WatchedPage;

beforeAll(async () => {
  database = await createTestDatabase();
  wire = await openWire(database.webUrl);
  const env = { DATABASE_OWNER_URL: database.ownerUrl, SIGNUP_LIMIT: "1000" };
  [site, closedSite] = await Promise.all([
    startSite({ env: { ...env, DATABASE_URL: wire.url(database.webUrl) } }),
    startSite({ env: { ...env, DATABASE_URL: database.webUrl, WAITLIST: "closed" } }),
  ]);
});

afterAll(async () => {
  await site.stop();
  await closedSite.stop();
  await wire.cut();
  await database.drop();
});

beforeEach(async () => {
  await database.query("TRUNCATE earlyaccess");
  page = await openPage();
});

const typed = { Name: "Ada", Email: "ada@example.com", Company: "Engines", "Job title (optional)": "Engineer" };
const success = "You're now on the early access list. We'll notify you when we launch!";
const failure = "Something went wrong. Please try again.";
const field = (label: string) => page.getByLabel(label, { exact: false });
const button = () => page.locator("form button[type=submit]");
const toast = () => page.locator("[data-sonner-toast]");
const successHeading = () => page.getByRole("heading", { level: 2, name: "Welcome to the future! 🚀" });
const posts = () => page.sentRequests.filter((request) => request.startsWith("POST") && !request.includes("/api/view"));
const focused = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent);
const emails = async () =>
  (await database.query("SELECT email FROM earlyaccess ORDER BY email")).map((row) => row.email);

async function openForm(path = "/") {
  await page.goto(site.url + path);
  await hydrateForm(page);
}

async function fill(changes: Partial<typeof typed> = {}) {
  for (const [label, value] of Object.entries({ ...typed, ...changes })) await field(label).fill(value);
}

async function submit(changes: Partial<typeof typed> = {}) {
  await fill(changes);
  await button().click();
}

const values = () => Promise.all(Object.keys(typed).map((label) => field(label).inputValue()));

/** Returns the texts of the live regions that a screen reader announces. */
const announced = () =>
  page
    .locator("output, [role=status], [role=alert], [aria-live]:not([aria-live=off])")
    .evaluateAll((regions) => regions.map((region) => region.textContent).filter((text) => text !== ""));

describe("a sign-up", () => {
  it("disables the button, shows the success in a toast and in place of the form, and logs nothing but the response", async () => {
    await openForm();
    const debug = page.waitForEvent("console", (message) => message.text().startsWith("Joined the waitlist:"));
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
    expect(await toast().locator("[data-description]").textContent()).toBe(success);
    expect(await page.locator("form input").count()).toBe(0);
    expect(await database.query("SELECT name, email, company, job_title FROM earlyaccess")).toEqual([
      { name: "Ada", email: "ada@example.com", company: "Engines", job_title: "Engineer" },
    ]);
    expect((await debug).type()).toBe("debug"); // Browsers hide it by default.
    expect(await (await debug).args()[1]?.jsonValue()).toEqual({ message: success });
    expect(page.messages).toEqual([]);
    await toast().waitFor({ state: "detached" }); // It closes after 4 s.
    await successHeading().waitFor();
  });

  it("is announced once: focus moves to the heading, and the toast's live region is silent", async () => {
    await openForm();
    await submit();
    await toast().waitFor();
    expect(await focused()).toBe("early-access-heading");
    const text = page.locator(`#${await successHeading().getAttribute("aria-describedby")}`);
    expect(await text.textContent()).toBe(success);
    expect(await announced()).toEqual([]);
  });

  it("leaves focus where the visitor moved it, and the toast announces the success", async () => {
    await openForm();
    await page.route("**/api/earlyaccess", async (route) => {
      await page.getByRole("navigation").getByRole("link").first().focus();
      await route.continue();
    });
    await submit();
    await toast().waitFor();
    expect(await page.locator("nav a:focus").count()).toBe(1);
    expect(await announced()).toEqual([expect.stringContaining("Welcome to the future! 🚀")]);
  });

  it("is shown again after a reload, and can be followed by one for a colleague from the same campaign", async () => {
    await openForm("/?utm_source=news");
    await submit();
    await successHeading().waitFor();
    expect(page.url()).toBe(`${site.url}/?utm_source=news&joined=#early-access`);
    await page.reload();
    await successHeading().waitFor();
    await hydrateForm(page);
    await page.getByRole("link", { name: "Add a colleague" }).click();
    expect(page.url()).toBe(`${site.url}/?utm_source=news#early-access`);
    expect([await values(), await focused()]).toEqual([["", "", "", ""], "early-access-name"]);
    await submit({ Email: "grace@example.com" });
    await successHeading().waitFor();
    expect(await database.query("SELECT email, utm_source FROM earlyaccess ORDER BY email")).toEqual([
      { email: "ada@example.com", utm_source: "news" },
      { email: "grace@example.com", utm_source: "news" },
    ]);
  });

  it("can be undone, also after an undo that failed, and repeated with the right address", async () => {
    await openForm();
    await submit();
    await page.route("**/leave*", (route) => route.abort());
    await page.getByRole("button", { name: "Wrong address? Undo" }).click();
    await page.getByRole("status").filter({ hasText: failure }).waitFor();
    expect(await emails()).toEqual(["ada@example.com"]);
    await page.unroute("**/leave*");
    await page.getByRole("button", { name: "Wrong address? Undo" }).click();
    await page.locator(":focus", { hasText: "Your sign-up has been undone" }).waitFor();
    expect([await emails(), await values()]).toEqual([[], ["", "", "", ""]]);
    await submit({ Email: "right@example.com" });
    await successHeading().waitFor();
    expect(await emails()).toEqual(["right@example.com"]);
  });

  it("of a bot that fills in the honeypot field is stored with a flag and gets the same response", async () => {
    await openForm();
    await fill();
    expect(await page.getByRole("textbox").count()).toBe(4);
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
    await openForm();
    await fill();
    await page.evaluate(() => {
      const form = document.querySelector("form") as HTMLFormElement;
      form.requestSubmit(); // Twice before React can disable the button.
      form.requestSubmit();
    });
    await toast().first().waitFor();
    expect(posts()).toHaveLength(1);
    expect(await emails()).toHaveLength(1);
  });

  it("can be repeated, and its toast replaces the one before", async () => {
    await openForm();
    for (const name of ["ada", "grace"]) {
      await fill({ Email: `${name}@example.com` });
      await button().press("Enter");
      await page.getByRole("link", { name: "Add a colleague" }).press("Enter");
      await page.locator("[data-sonner-toast][data-removed=false]").waitFor();
      // While the pointer is over them, toasts do not close by themselves.
      await page.locator("[data-sonner-toaster]").dispatchEvent("mouseover");
    }
    expect(await emails()).toHaveLength(2);
    await page.waitForFunction(() => document.querySelectorAll("[data-sonner-toast]").length === 1);
  });
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
    await page.goto(site.url);
  });

  const expectOneSignUp = async () => {
    await successHeading().waitFor();
    expect(posts()).toHaveLength(1);
    expect(await emails()).toEqual(["ada@example.com"]);
    expect(page.messages).toEqual([]);
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
  });
});

describe("a mistyped address", () => {
  const question = () => page.getByRole("status").filter({ hasText: "Did you mean" });
  const answer = (name: string) => page.getByRole("button", { name });

  it("leads to a question in a live region that existed before, and is replaced by Use it", async () => {
    await openForm();
    await page.waitForLoadState("networkidle");
    expect(page.sentRequests.filter((request) => request.includes("suggested-address"))).toEqual([]);
    await fill({ Email: "" });
    await page
      .locator(".visually-hidden > output")
      .first()
      .evaluate((element) => (element.dataset.early = "yes"));
    await field("Email").fill("Ada@Gmial.com");
    await field("Email").press("Tab");
    await question().waitFor();
    expect(await question().getAttribute("data-early")).toBe("yes");
    expect(await announced()).toEqual(["Did you mean ada@gmail.com?"]);
    expect(await focused()).toBe("early-access-company");
    await answer("Use it").click();
    expect([await field("Email").inputValue(), await focused()]).toEqual(["ada@gmail.com", "early-access-email"]);
    await field("Company").focus();
    await button().click();
    await successHeading().waitFor();
    expect(await emails()).toEqual(["ada@gmail.com"]);
  });

  it("is kept by Keep mine, without another question about it", async () => {
    await openForm();
    await fill({ Email: "ada@gmial.com" });
    await answer("Keep mine").click();
    await field("Email").fill("ada@gmal.com");
    await field("Company").focus();
    await question().waitFor();
    await field("Email").fill("ada@gmial.com");
    await field("Company").focus();
    expect(await question().count()).toBe(0);
    await button().click();
    await successHeading().waitFor();
    expect(await emails()).toEqual(["ada@gmial.com"]);
  });

  it("does not keep the form from being sent: neither the question nor its appearance", async () => {
    await openForm();
    await fill();
    await field("Email").fill("ada@gmial.com");
    await page.waitForLoadState("networkidle");
    const box = await button().boundingBox();
    await page.mouse.move((box?.x ?? 0) + 9, (box?.y ?? 0) + (box?.height ?? 0) - 3);
    await page.mouse.down(); // The field loses focus.
    await question().waitFor();
    await page.mouse.up();
    await successHeading().waitFor();
    expect(await emails()).toEqual(["ada@gmial.com"]);
  });

  it("is sent without a question if the suggestions do not load", async () => {
    await page.route("**/suggested-address-*.js", (route) => route.abort());
    await openForm();
    await submit({ Email: "ada@gmial.com" });
    await successHeading().waitFor();
    expect(page.messages.filter((message) => message.startsWith("uncaught"))).toEqual([]);
  });
});

describe("a failure", () => {
  const expectFailure = async (logged: RegExp) => {
    await toast().first().waitFor();
    expect(await toast().locator("[data-title]").textContent()).toBe("Error");
    expect(await toast().locator("[data-description]").textContent()).toBe(failure);
    expect(await toast().getAttribute("data-type")).toBe("error");
    expect(await button().isEnabled()).toBe(true);
    // Chromium logs each failed request; there must be no other messages.
    const messages = page.messages.filter((text) => !text.includes("Failed to load resource"));
    expect(messages).toEqual([expect.stringMatching(logged)]);
  };

  it("422: each invalid field shows the server's error, the first one has focus, and a valid value removes it", async () => {
    await openForm();
    await submit({ Email: "ada@localhost", Company: " " });
    await expectFailure(/^error: Joining the waitlist failed with status 422/);
    expect(await values()).toEqual(["Ada", "ada@localhost", " ", "Engineer"]);
    const error = async (name: string) => {
      const input = page.locator(`[name=${name}][aria-invalid=true]`);
      return (await input.count()) === 0
        ? undefined
        : page.locator(`#${await input.getAttribute("aria-describedby")}`).textContent();
    };
    expect(await Promise.all(["name", "email", "company"].map(error))).toEqual([
      undefined,
      "Enter an email address like name@example.com.",
      "Enter your company.",
    ]);
    expect(await focused()).toBe("early-access-email");
    await field("Email").press("End");
    await page.keyboard.type(".");
    expect(await error("email")).toBeDefined();
    await page.keyboard.type("e");
    expect([await error("email"), await error("company")]).toEqual([undefined, "Enter your company."]);
    await field("Company").fill("Engines");
    expect(await error("company")).toBeUndefined();
    await submit();
    await successHeading().waitFor();
  });

  /** Each way to fail returns how to mend it. */
  type Fail = () => Promise<() => Promise<void>>;

  const answer = async (respond: (route: Route) => unknown) => {
    await page.route("**/api/earlyaccess", async (route) => void (await respond(route)));
    return () => page.unroute("**/api/earlyaccess");
  };

  it.each<[string, Fail, RegExp]>([
    ["no database", async () => (await wire.cut(), () => wire.mend()), /failed with status 503/],
    ["no network", () => answer((route) => route.abort("internetdisconnected")), /failed: TypeError/],
    ["no response for 15 s", () => answer(() => undefined), /failed: TimeoutError/],
    [
      "a captive portal",
      () => answer((route) => route.fulfill({ contentType: "text/html", body: "Log in" })),
      /status 200/,
    ],
  ])("%s: the form keeps its values, and the next attempt succeeds", async (_, fail, logged) => {
    await openForm();
    await fill();
    const mend = await fail();
    await button().click();
    await expectFailure(logged);
    expect(await values()).toEqual(Object.values(typed));
    expect(await page.locator("form [type=submit]:focus").count()).toBe(1);
    await mend();
    await button().click();
    await successHeading().waitFor();
    expect(await emails()).toEqual(["ada@example.com"]);
  });

  it("a list that closed since the page was loaded: the message says so, and the form keeps its values", async () => {
    await sendFormTo(closedSite.url, page);
    await openForm();
    await submit();
    await toast().waitFor();
    const message = "The early access list is closed. Your sign-up was not stored.";
    expect(await toast().textContent()).toBe(`Error${message}`);
    expect(await page.locator("#early-access-failure").textContent()).toBe(message);
    expect(await page.locator(":focus").getAttribute("aria-describedby")).toBe("early-access-failure");
    expect([await values(), await emails()]).toEqual([Object.values(typed), []]);
  });

  it("no toast library: the form shows the error", async () => {
    await page.route("**/toasts-*.js", (route) => route.abort());
    await page.route("**/api/earlyaccess", (route) => route.abort());
    await openForm();
    await submit();
    await page.locator("form").getByText(failure).waitFor();
    expect(page.messages.filter((message) => message.startsWith("uncaught"))).toEqual([]);
  });
});

it("an empty or invalid form is not sent: the browser says what is missing", async () => {
  await openForm();
  await button().click();
  expect(await focused()).toBe("early-access-name");
  await submit({ Email: "nonsense" });
  expect(await focused()).toBe("early-access-email");
  expect(posts()).toEqual([]);
});

describe("nothing covers what the visitor is about to use:", () => {
  /** Returns the names of the fields and buttons below the navigation bar that the element covers. */
  const covered = (selector: string) =>
    page.locator(selector).evaluate((element) => {
      const bar = document.querySelector("header")?.getBoundingClientRect().bottom ?? 0;
      const over = element.getBoundingClientRect();
      return [...document.querySelectorAll<HTMLInputElement>("form .field input, form [type=submit]")]
        .filter((control) => {
          const { top, bottom, left, right } = control.getBoundingClientRect();
          const isOverlapped = Math.max(top, bar) < over.bottom && bottom > over.top;
          return isOverlapped && bottom > bar && left < over.right && right > over.left;
        })
        .map((control) => control.name || control.type);
    });

  it.each([320, 1440])(
    "the question about a long address moves no field, and is no wider than its card, at %i px",
    async (width) => {
      await page.setViewportSize({ width, height: 900 });
      await openForm();
      await field("Email").fill(`${"m".repeat(64)}@gmial.com`);
      const layout = () =>
        page
          .locator("form .field input, .panel-words h2")
          .evaluateAll((all) =>
            all.map((element) => [element.getBoundingClientRect().top + scrollY, element.clientWidth].map(Math.round)),
          );
      const before = await layout();
      await field("Company").focus();
      await page.getByText("Did you mean").waitFor();
      expect(await layout()).toEqual(before);
      expect(await covered(".suggestion")).not.toContain("company");
      const [right, edge] = await page
        .locator(".suggestion, .form-card")
        .evaluateAll((all) => all.map((element) => element.getBoundingClientRect().right).toSorted((a, b) => a - b));
      expect(right).toBeLessThan(edge as number);
      await field("Name").focus();
      await page.locator(".suggestion").waitFor({ state: "hidden" });
    },
  );

  it("the toast of a rejected sign-up is over the navigation bar, at every width", async () => {
    await openForm();
    await page.locator("[data-sonner-toaster], form").first().waitFor();
    await submit({ Email: "ada@localhost" });
    await page.locator("[data-sonner-toast][data-mounted=true]").waitFor();
    await page.locator("[data-sonner-toaster]").dispatchEvent("mouseover"); // The toast does not close.
    for (const width of [320, 768, 1440]) {
      await page.setViewportSize({ width, height: 700 });
      await animationsFinished(page);
      const [bar, over] = await page
        .locator("header, [data-sonner-toast]")
        .evaluateAll((all) => all.map((element) => element.getBoundingClientRect().bottom));
      expect(over).toBeLessThanOrEqual(bar as number);
      expect(await covered("[data-sonner-toast]")).toEqual([]);
    }
  });
});
