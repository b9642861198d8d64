// The hydrated form in a browser: the sign-up, the question about a mistyped address, and every failure.
import type { Locator, Route } from "playwright-core";
import { beforeEach, expect, it } from "vitest";
import { earlyAccess, fieldErrors, meta, navigation } from "../../client/shared/content.ts";
import { fields, type FieldName } from "../../client/shared/fields.ts";
import { control } from "../../client/early-access/field-input.tsx";
import {
  animationsFinished,
  createBrowserSites,
  formField,
  hydrated,
  hydrateForm,
  openPage,
  sendFormTo,
  type WatchedPage,
} from "../support/browser.ts";
import { fieldNamed } from "../support/copy.ts";

const sites = await createBrowserSites();
let page: WatchedPage;

beforeEach(async () => {
  await sites.database.query("TRUNCATE earlyaccess");
  page = await openPage();
});

const typed = { name: "Ada", email: "ada@example.com", company: "Engines", job_title: "Engineer" };
const typedNames = ["name", "email", "company", "job_title"] as const satisfies FieldName[];
const { success, failure, refusals } = earlyAccess;
const signups = "**/api/earlyaccess";
const plainSuccess = "**/?joined&undo=*";
const field = (name: FieldName) => page.locator(`.form [name=${name}]`);
const button = () => page.locator(".form [type=submit]");
const toast = () => page.locator("[data-sonner-toast]");
const toastTexts = () => toast().locator("[data-title], [data-description]").allTextContents();
const successHeading = () => page.getByRole("heading", { level: 2, name: success.title });
const posts = () => page.sentRequests.filter((request) => request.startsWith("POST") && !request.includes("/api/view"));
const undo = () => page.getByRole("button", { name: success.undo });
const focused = () => page.evaluate(() => document.activeElement?.id);
const values = () => Promise.all(typedNames.map((name) => field(name).inputValue()));
const emails = async () =>
  (await sites.database.query("SELECT email FROM earlyaccess ORDER BY email")).map((row) => row.email);

async function openForm() {
  await page.goto(sites.open.url);
  await hydrateForm(page);
}

async function fill(changes: Partial<typeof typed> = {}) {
  for (const name of typedNames) await field(name).fill({ ...typed, ...changes }[name]);
}

async function submit(changes: Partial<typeof typed> = {}) {
  await fill(changes);
  await button().click();
}

/** Replaces each text by an element, as the translation of Chrome and Edge does, now and after each change. */
function translate() {
  const replaceTexts = () => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const texts: Text[] = [];
    while (walker.nextNode()) texts.push(walker.currentNode as Text);
    for (const text of texts) {
      if (!text.data.trim() || text.parentElement?.closest("font, script, style")) continue;
      const font = document.createElement("font");
      font.textContent = text.data;
      text.replaceWith(font);
    }
  };
  replaceTexts();
  new MutationObserver(replaceTexts).observe(document.body, { childList: true, characterData: true, subtree: true });
}

/** Where the visitor types. */
const cursor = () =>
  page.evaluate(() => {
    const { id, selectionStart, selectionEnd } = document.activeElement as HTMLInputElement;
    return { id, selectionStart, selectionEnd };
  });

it.each<[string, FieldName, string, (element: Element) => unknown]>([
  ["a translation", "company", "form", translate],
  ["a replaced word", "name", "form label", (label) => (label.textContent = "Your name")],
  ["a marked word", "email", "form label", (label) => label.replaceChildren(document.createElement("mark"))],
  ["an added link", "job_title", "form .note", (note) => note.prepend(document.createElement("a"))],
  ["an icon after a field", "name", "[name=name]", (input) => input.after(document.createElement("i"))],
  [
    "a frame around a field",
    "email",
    "[name=email]",
    (input) => {
      const frame = document.createElement("span");
      input.replaceWith(frame);
      frame.append(input);
    },
  ],
  ["a node at the start of the form", "company", "form", (form) => form.prepend("x")],
  ["a removed note", "job_title", "form .note", (note) => note.remove()],
])("a form that is changed before its hydration keeps what is typed: %s", async (_, name, selector, change) => {
  let before: unknown;
  await page.route("**/hydrate-*.js", async (route) => {
    await fill();
    await page.locator(selector).first().evaluate(change);
    await field(name).focus();
    await page.keyboard.press("Shift+ArrowLeft");
    before = await cursor();
    await route.continue();
  });
  await openForm();
  expect([await values(), await cursor()]).toEqual([Object.values(typed), before]);
  await button().click();
  await toast().waitFor(); // Only React shows it.
  expect(await emails()).toEqual(["ada@example.com"]);
});

it("a form that gets focus without a scroll is hydrated, and asks nothing while the visitor is in the field", async () => {
  await page.goto(sites.open.url);
  await field("email").evaluate((input: HTMLInputElement) => {
    input.value = "ada@gmial.co"; // Without the last letter.
    input.focus({ preventScroll: true });
  });
  await hydrated(page);
  await page.waitForLoadState("networkidle"); // The script of the suggestions is loaded.
  expect([await focused(), await question().count()]).toEqual(["early-access-email", 0]);
});

it("a form that the browser translates after its hydration asks, shows the success, and is empty again", async () => {
  await openForm();
  await page.evaluate(translate);
  await fill({ email: "ada@gmial.com" });
  await page.getByRole("button", { name: earlyAccess.answers.use }).click();
  await button().click();
  await successHeading().waitFor();
  await submit({ email: "grace@example.com" });
  await expect.poll(emails).toEqual(["ada@gmail.com", "grace@example.com"]);
});

/** Returns the texts of the live regions that a screen reader announces. */
const announced = () =>
  page
    .locator("output, [role=status], [role=alert], [aria-live]:not([aria-live=off])")
    .evaluateAll((regions) => regions.map((region) => region.textContent).filter((text) => text !== ""));

/** Lets a second pass instead of the four after which a toast closes, and an hour instead of another time. */
const closeToastsSoon = () =>
  page.evaluate(() => {
    const start = setTimeout;
    const shorten = (ms = 0) => (ms === 4_000 ? 1_000 : 3_600_000);
    window.setTimeout = ((run: () => void, ms = 0) => start(run, ms < 1_000 ? ms : shorten(ms))) as typeof setTimeout;
  });

it("a sign-up disables the button, shows the success in a toast and beside an empty form, and announces it once", async () => {
  await openForm();
  const debug = page.waitForEvent("console", (message) => message.text().startsWith("Joined the waitlist:"));
  await closeToastsSoon();
  let meanwhile: unknown;
  await page.route(signups, async (route) => {
    await page.getByRole("button", { name: earlyAccess.sending, disabled: true }).waitFor();
    await field("name").focus(); // Still in the form.
    meanwhile = [await announced(), await page.locator(`.field ${control}:read-only`).count()];
    await route.continue();
  });
  await fill({ email: "ada@gmial.com" });
  await question().waitFor(); // While the form is being sent, its answers would change nothing.
  await button().click();
  await toast().waitFor();
  expect(await toastTexts()).toEqual([success.title, success.text]);
  expect(meanwhile).toEqual([[earlyAccess.sending], fields.length]);
  expect(await focused()).toBe("early-access-heading");
  const text = page.locator(`#${await successHeading().getAttribute("aria-describedby")}`);
  expect(await text.textContent()).toBe(success.text);
  expect(await announced()).toEqual([]); // The focus announces the success.
  expect(await values()).toEqual(["", "", "", ""]);
  await page.locator(".panel").getByText(earlyAccess.betaJoined.what).waitFor();
  const stored = await sites.database.query("SELECT name, email, company, job_title FROM earlyaccess");
  expect(stored).toEqual([{ ...typed, email: "ada@gmial.com" }]);
  expect((await debug).type()).toBe("debug"); // Browsers hide it by default.
  expect(await (await debug).args()[1]?.jsonValue()).toEqual({ message: success.text });
  expect(page.messages).toEqual([]);
  await toast().waitFor({ state: "detached", timeout: 20_000 });
  await successHeading().waitFor();
});

/** Scrolls until the element is as far below the window's top. */
const scrollTo = (target: Locator, top: number) =>
  target.evaluate((element, y) => scrollBy({ top: element.getBoundingClientRect().top - y, behavior: "instant" }), top);

it("a success and an undone sign-up move their heading right below the bar if they were not in view, and nothing else", async () => {
  await page.setViewportSize({ width: 390, height: 1200 });
  await openForm();
  const heading = page.locator("#early-access-heading");
  const topOf = (locator: Locator) => locator.evaluate((element) => element.getBoundingClientRect().top);
  const bar = (await page.locator("header").boundingBox())?.height ?? 0;
  const expectBelowBar = async () => {
    const below = (await topOf(heading)) - bar;
    expect(below).toBeGreaterThanOrEqual(0);
    expect(below).toBeLessThanOrEqual(48);
  };
  await fill();
  await scrollTo(button(), 100);
  await button().click();
  await page.locator("#early-access-heading:focus").waitFor();
  await expectBelowBar();
  await scrollTo(undo(), 1140);
  await undo().click();
  await page.locator("#early-access-undone:focus").waitFor();
  await expectBelowBar();
  await fill();
  await scrollTo(heading, 300);
  await button().click();
  await page.locator("#early-access-heading:focus").waitFor();
  expect(await topOf(heading)).toBeCloseTo(300, 0);
});

it.each([
  [201, success.title],
  [422, failure.title],
])(
  "a response of %i leaves focus and view where the visitor moved them, and the toast announces it",
  async (status, title) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await openForm();
    let before: number | undefined;
    await page.route(signups, async (route) => {
      await page.getByRole("navigation").getByRole("link").first().focus();
      before = await page.evaluate(() => scrollY);
      await route.continue();
    });
    await fill(status === 201 ? {} : { email: "ada@localhost" });
    await scrollTo(button(), 100);
    await button().click();
    await toast().waitFor();
    expect(await page.evaluate(() => scrollY)).toBe(before);
    expect(await page.locator("nav a:focus").count()).toBe(1);
    expect(await announced()).toEqual([expect.stringContaining(title)]);
  },
);

it.each(["body", "#early-access", "form", "nav"])(
  "a click that focuses not the button but %s, as in Safari or by voice control, moves focus and view to each result",
  async (selector) => {
    await page.setViewportSize({ width: 390, height: 664 });
    await openForm();
    await page.locator(selector).evaluate((focusable: HTMLElement) => {
      focusable.tabIndex = -1;
      addEventListener("mousedown", (event) => {
        if (!(event.target as Element).closest("button")) return;
        event.preventDefault();
        focusable.focus({ preventScroll: true });
      });
    });
    const pressAtTheTop = async () => {
      await button().evaluate((element) => scrollBy({ top: element.getBoundingClientRect().top - 100 }));
      await button().click();
    };
    const focusedInView = () =>
      page.locator(":focus").evaluate((element) => {
        const { top } = ((element as HTMLInputElement).labels?.[0] ?? element).getBoundingClientRect();
        const bar = document.querySelector("header")?.offsetHeight ?? Infinity;
        return top >= bar && element.getBoundingClientRect().bottom < innerHeight && element.id;
      });
    await fill({ email: "ada@localhost" });
    await pressAtTheTop();
    await expect.poll(focusedInView).toBe("early-access-email");
    await fill();
    await pressAtTheTop();
    await expect.poll(focusedInView).toBe("early-access-heading");
    await undo().click();
    await expect.poll(focusedInView).toBe("early-access-undone");
  },
);

it("a sign-up has the referrer and the campaign, also one for a colleague", async () => {
  const link = `<a href="${sites.open.url}/?utm_source=news#early-access">x</a>`;
  await page.route("http://host/", (route) => route.fulfill({ contentType: "text/html", body: link }));
  await page.goto("http://host/"); // Not this site, although "localhost" ends with it.
  await page.locator("a").click();
  await hydrateForm(page);
  await submit();
  await successHeading().waitFor();
  expect(page.url()).toBe(`${sites.open.url}/?utm_source=news`);
  await page.goto(`${sites.open.url}/privacy?utm_source=news`);
  await page.evaluate(() => (location.href = "/?utm_source=news")); // The site itself is no referrer.
  await hydrateForm(page);
  await submit({ email: "grace@example.com" });
  await successHeading().waitFor();
  expect(await sites.database.query("SELECT * FROM earlyaccess ORDER BY email")).toMatchObject([
    { email: "ada@example.com", utm_source: "news", referrer_host: "host" },
    { email: "grace@example.com", utm_source: "news", referrer_host: null },
  ]);
});

it("a sign-up is shown after a reload, also below another link, and can then be undone; its copied URL is the landing page", async () => {
  const form = await openPage();
  await openForm();
  await submit();
  await successHeading().waitFor();
  await page.getByRole("navigation").getByRole("link", { name: navigation.pricing }).click();
  expect(page.url()).toBe(`${sites.open.url}/`);
  await form.goto(page.url());
  await formField(form, "name").waitFor();
  await page.reload();
  await successHeading().waitFor();
  expect(await page.title()).toBe(meta.joined.title);
  await page.goto(`${sites.open.url}/privacy`);
  await page.goBack();
  await undo().click();
  await page.getByText(earlyAccess.undone).waitFor();
  expect(await page.title()).toBe(meta.landing.title);
  await page.goBack(); // To the entry before the link.
  await page.reload();
  await hydrateForm(page);
  expect([await values(), await emails(), page.url()]).toEqual([["", "", "", ""], [], `${sites.open.url}/`]);
  expect(page.messages).toEqual([]);
});

it("after a sign-up, the empty form takes a colleague's: its failure leaves the success, and Undo removes the latest one", async () => {
  await openForm();
  await submit();
  await successHeading().waitFor();
  await page.route("**/leave*", (route) => route.abort(), { times: 1 });
  await undo().click();
  const failedUndo = page.getByRole("status").filter({ hasText: failure.text });
  await failedUndo.waitFor();
  await page.route(signups, (route) => intercept(route, 429), { times: 1 });
  await submit({ email: "grace@gmial.com" });
  await page.locator("#early-access-failure").waitFor();
  expect([await successHeading().count(), await undo().count()]).toEqual([1, 1]);
  expect(await values()).toEqual(Object.values({ ...typed, email: "grace@gmial.com" }));
  await button().click();
  await page.locator("#early-access-failure").waitFor({ state: "detached" });
  await expect.poll(values).toEqual(["", "", "", ""]);
  expect([await focused(), await question().count(), await failedUndo.count()]).toEqual(["early-access-heading", 0, 0]);
  expect(await emails()).toEqual(["ada@example.com", "grace@gmial.com"]);
  await undo().click();
  await page.locator(":focus", { hasText: earlyAccess.undone + earlyAccess.writeToUs }).waitFor();
  expect(await emails()).toEqual(["ada@example.com"]);
});

it("a sign-up is shown after a reload only until the visitor is in the form, and also after the list has closed", async () => {
  const state = { other: 1, joined: "a".repeat(32) };
  await page.goto(sites.closed.url);
  for (const joined of ["", state.joined]) {
    await page.evaluate((value) => history.replaceState(value, ""), { joined }); // A site that sends mails has no token.
    await page.reload();
    await successHeading().waitFor();
  }
  await undo().click();
  await page.getByText(earlyAccess.undone).waitFor();
  await page.route("**/hydrate-*.js", () => undefined, { times: 1 });
  await page.goto(sites.open.url);
  await page.evaluate((value) => history.replaceState(value, ""), state);
  await page.route("**/hydrate-*.js", async (route) => {
    await field("name").fill("Grace");
    await route.continue();
  });
  await page.reload();
  await hydrated(page);
  expect(await field("name").inputValue()).toBe("Grace");
  expect(await page.evaluate(() => history.state as object)).toEqual({ other: 1 });
  await page.unroute("**/hydrate-*.js");
  await page.route("**/hydrate-*.js", async (route) => {
    // As a browser that fills in the form again.
    await field("name").evaluate((input: HTMLInputElement) => (input.value = "Grace"));
    await route.continue();
  });
  await page.evaluate((value) => history.replaceState(value, ""), state);
  await page.reload();
  await successHeading().waitFor();
  expect(await field("name").inputValue()).toBe("Grace");
});

it("a sign-up can be undone, also after an undo that failed, and repeated with the right address", async () => {
  await openForm();
  await submit();
  const abort = (route: Route) => route.abort();
  for (const fail of [abort, ...[200, 503].map((status) => (route: Route) => intercept(route, status))]) {
    await page.route("**/leave*", fail, { times: 1 });
    const ended = page.waitForRequest("**/leave*");
    await undo().click();
    await (await ended).response();
    await page.getByRole("status").filter({ hasText: failure.text }).waitFor();
    expect(await emails()).toEqual(["ada@example.com"]);
  }
  await undo().click();
  await page.locator(":focus", { hasText: earlyAccess.undone }).waitFor();
  expect([await emails(), await values()]).toEqual([[], ["", "", "", ""]]);
  await submit({ email: "right@example.com" });
  await successHeading().waitFor();
  expect(await emails()).toEqual(["right@example.com"]);
});

it("after a lost response, the page says that the undo of the repeated sign-up leaves the first", async () => {
  await openForm();
  const lose = async (route: Route) => {
    await route.fetch();
    await route.abort();
  };
  await page.route(signups, lose, { times: 1 });
  await submit();
  await toast().waitFor();
  await button().click();
  await undo().click();
  await page.locator(":focus", { hasText: earlyAccess.undone }).waitFor();
  expect(await emails()).toEqual(["ada@example.com"]);
});

/** As Firefox for Android and other browsers on GeckoView, which refuse an invalid form without a message and leave focus where it is. */
const refuseSilently = () => addEventListener("invalid", (event) => event.preventDefault(), true);

it("a sign-up is not sent with an empty or invalid field, each of which says what is wrong, also in a browser that says nothing", async () => {
  await openForm();
  await page.evaluate(refuseSilently);
  await button().click();
  expect(await Promise.all(typedNames.map(errorOf))).toEqual([
    ...(["name", "email", "company"] as const).map((name) => fieldErrors.required(fieldNamed(name).noun)),
    undefined,
  ]);
  expect(await focused()).toBe("early-access-name");
  await fill({ email: "ada @" }); // Also wrong once it is corrected.
  await pressEnter();
  await expect.poll(() => field("email").inputValue()).toBe("ada@");
  expect(await Promise.all(typedNames.map(errorOf))).toEqual([undefined, fieldErrors.email, undefined, undefined]);
  expect([await focused(), posts()]).toEqual(["early-access-email", []]);
  await field("email").fill("ada@example.com");
  await pressEnter();
  await successHeading().waitFor();
});

it("a sign-up is sent once after a double click", async () => {
  await openForm();
  await fill();
  await page.locator("form").evaluate((form: HTMLFormElement) => {
    form.requestSubmit(); // Twice before React can disable the button.
    form.requestSubmit();
  });
  await successHeading().waitFor();
  expect(posts()).toHaveLength(1);
});

it("a sign-up has a flag if the honeypot field is filled in, which nobody sees", async () => {
  await openForm();
  await fill();
  const form = page.locator(".form");
  expect(await form.getByRole("textbox").or(form.getByRole("combobox")).count()).toBe(fields.length);
  await page.locator("[name=message][autocomplete=off]").evaluate((input: HTMLInputElement) => (input.value = "Buy"));
  await button().click();
  await successHeading().waitFor();
  expect(await sites.database.query("SELECT suspected_spam FROM earlyaccess")).toEqual([{ suspected_spam: true }]);
});

it("an Enter that is held presses only once: a refused form is sent once, and Use it sends nothing; other keys repeat", async () => {
  const hold = async (key = "Enter") => {
    for (let i = 0; i < 5; i++) await page.keyboard.down(key);
  };
  await openForm();
  await fill({ name: "Adaaaaaa" });
  await field("name").focus();
  await hold("Backspace");
  expect(await field("name").inputValue()).toBe("Ada");
  await fill({ email: "ada@localhost" });
  await field("company").focus();
  await hold();
  await page.locator("[name=email][aria-invalid=true]").waitFor();
  await hold();
  await page.keyboard.up("Enter");
  await field("email").fill("ada@gmial.com");
  await field("company").focus();
  await page.getByRole("button", { name: earlyAccess.answers.use }).focus();
  await hold();
  await page.keyboard.up("Enter");
  expect([await focused(), await field("email").inputValue()]).toEqual(["early-access-email", "ada@gmail.com"]);
  await page.keyboard.press("Enter");
  await successHeading().waitFor();
  expect(posts()).toHaveLength(2);
});

it("a sign-up before the hydration is sent as a plain form, also twice, whose undo leaves the first, and the hydration keeps typed text", async () => {
  await page.route("**/hydrate-*.js", () => undefined, { times: 1 });
  const pressAgain = async (route: Route) => {
    await route.fetch({ maxRedirects: 0 });
    await page.keyboard.press("Enter");
  };
  await page.route(signups, pressAgain, { times: 1 });
  await page.goto(sites.open.url);
  const redirect = page.waitForRequest(plainSuccess);
  await submit();
  await redirect;
  await successHeading().waitFor();
  await page.waitForURL(`${sites.open.url}/`);
  await page.reload();
  await undo().click();
  await page.getByText(earlyAccess.undone).waitFor();
  expect(await emails()).toEqual(["ada@example.com"]);
  await page.route("**/hydrate-*.js", async (route) => {
    await fill({ email: "ada@gmial.com" });
    await route.continue();
  });
  await openForm();
  await page.getByText(earlyAccess.didYouMean).waitFor();
  expect(await values()).toEqual(["Ada", "ada@gmial.com", "Engines", "Engineer"]);
  expect(page.messages).toEqual([]);
});

it("a browser without sendBeacon hydrates the form, whose fields it can fill in, and Chrome does not send to its spelling service", async () => {
  await page.route("**/assets/index-*.js", async (route) => {
    await page.evaluate(() => Reflect.deleteProperty(Navigator.prototype, "sendBeacon"));
    await route.continue();
  });
  await openForm();
  expect(await page.locator("form [enterkeyhint], .field input:not([spellcheck=false])").count()).toBe(0);
  const filled = page
    .locator(`.field ${control}`)
    .evaluateAll((all: HTMLInputElement[]) => all.map((one) => one.autocomplete));
  expect(await filled).toEqual(fields.map(({ autoComplete }) => autoComplete));
  expect(page.messages).toEqual([]);
});

it("a browser that lacks what the request needs sends the plain form", async () => {
  const names = ["fetch", "FormData", "URL", "AbortSignal.timeout", "Object.fromEntries", "JSON.stringify"];
  for (const [i, name] of names.entries()) {
    await page.goto(`${sites.open.url}/privacy`); // In Chromium, the URL of the page would show the sign-up again.
    await openForm();
    await fill({ email: `${i}@example.com` });
    await page.evaluate(`delete ${name}`);
    const redirect = page.waitForRequest(plainSuccess);
    await button().click();
    await redirect;
    await successHeading().waitFor();
  }
  await hydrated(page);
  await page.evaluate("delete AbortSignal.timeout");
  await Promise.all([page.waitForRequest("**/?undone"), undo().click()]);
  await page.getByText(earlyAccess.undone).waitFor();
  expect(await emails()).toHaveLength(names.length - 1);
  await hydrateForm(page);
  await submit({ email: "right@example.com" });
  await successHeading().waitFor();
  expect(page.url()).toBe(`${sites.open.url}/`);
});

const question = () => page.getByRole("status").filter({ hasText: earlyAccess.didYouMean });

const boxes = (selector: string) =>
  page.locator(selector).evaluateAll((all) => all.map((element) => element.getBoundingClientRect()));

const mailbox = "m".repeat(64);

it("a long mistyped address leads, on a phone, to a question in a live region that existed before, beside the fields, with large buttons, and is replaced by Use it", async () => {
  await page.setViewportSize({ width: 320, height: 900 });
  await openForm();
  await page.waitForLoadState("networkidle");
  expect(page.sentRequests.filter((request) => request.includes("suggested-email"))).toEqual([]);
  const region = page.locator(".visually-hidden > output").first();
  await region.evaluate((element) => (element.dataset.early = "yes"));
  await fill({ email: `${mailbox.toUpperCase()}@Gmial.com` });
  await question().waitFor();
  expect(await question().getAttribute("data-early")).toBe("yes");
  expect(await announced()).toEqual([`${earlyAccess.didYouMean} ${mailbox}@gmail.com?`]);
  expect(await question().locator(".visually-hidden").textContent()).toBe(mailbox);
  const [{ top, bottom }] = (await boxes(".suggestion")) as [DOMRect];
  expect((await boxes(`.field ${control}`)).filter((box) => box.top < bottom && box.bottom > top)).toEqual([]);
  for (const { height } of await boxes(".suggestion button")) expect(height).toBeGreaterThanOrEqual(44);
  await page.getByRole("button", { name: earlyAccess.answers.use }).click();
  expect([await field("email").inputValue(), await focused()]).toEqual([`${mailbox}@gmail.com`, "early-access-email"]);
  await button().click();
  await successHeading().waitFor();
  expect(await emails()).toEqual([`${mailbox}@gmail.com`]);
});

it("a mistyped address is kept by Keep mine, without another question about it, and no question moves the button while it is pressed", async () => {
  const expectNoQuestion = async () => {
    // A question would appear in the next frame.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    expect(await question().count()).toBe(0);
  };
  await openForm();
  await fill({ email: "Ada@Gmial.com" }); // As phones begin a word.
  await page.getByRole("button", { name: earlyAccess.answers.keep }).click();
  expect(await focused()).toBe("early-access-email");
  await field("company").focus();
  await expectNoQuestion();
  await field("email").fill("ada@yaho.com"); // Another address.
  await field("company").focus();
  await question().waitFor();
  await field("email").fill("ada@hotmial.com");
  await button().hover();
  await page.mouse.down(); // The field loses focus.
  await expectNoQuestion();
  await page.mouse.up();
  await successHeading().waitFor();
  expect(await emails()).toEqual(["ada@hotmial.com"]);
});

it("an address with invisible or full-width characters or an international domain is corrected once its field is left", async () => {
  await openForm();
  const left = async (email: string) => {
    await field("email").fill(email);
    await field("company").focus();
    return field("email").inputValue();
  };
  expect(await left("\u2068ａｄａ＠ｇｍｉａｌ．ｃｏｍ\u2069")).toBe("ada@gmial.com");
  await question().filter({ hasText: "ada@gmail.com" }).waitFor();
  expect(await left("\u200Bada @ münchen.de")).toBe("ada@xn--mnchen-3ya.de");
  expect(await left("Ada@Example.com")).toBe("Ada@Example.com");
  expect(await left("ada lovelace@example.com")).toBe("ada lovelace@example.com");
});

const pressEnter = () => field("email").press("Enter");
const requestSubmit = () => page.locator(".form").evaluate((form: HTMLFormElement) => form.requestSubmit());

it.each([
  ["Enter in its field", pressEnter],
  ["the button", () => button().click()],
  ["a script", requestSubmit],
])("an address that only the browser refuses is corrected before %s sends it", async (_, send) => {
  await openForm();
  for (const email of ["ａｄａ＠ｅｘａｍｐｌｅ．ｃｏｍ", "\u200Bada@example.com", "ada @ example.com"]) {
    await sites.database.query("TRUNCATE earlyaccess");
    await fill();
    // Without events, as some password managers fill in a field.
    await field("email").evaluate((input: HTMLInputElement, text) => (input.value = text), email);
    await send();
    await expect.poll(values).toEqual(["", "", "", ""]);
    expect(await emails()).toEqual(["ada@example.com"]);
  }
});

/** Answers as a proxy or a network's log-in page (captive portal). */
const intercept = (route: Route, status: number, contentType = "text/html") =>
  route.fulfill({ status, headers: { Location: "http://portal/" }, contentType, body: "Log in" });

const line = () => page.locator("#early-access-failure").textContent();

const expectFailure = async (logged: RegExp) => {
  await toast().first().waitFor();
  expect(await toastTexts()).toEqual([failure.title, failure.text]);
  expect(await toast().getAttribute("data-type")).toBe("error");
  // Chromium logs each failed request; there must be no other messages.
  const messages = page.messages.filter((text) => !text.includes("Failed to load resource"));
  expect(messages).toEqual([expect.stringMatching(logged)]);
};

/** Returns the error at a field that is marked as invalid. */
async function errorOf(name: FieldName) {
  const input = page.locator(`[name=${name}][aria-invalid=true]`);
  const id = (await input.count()) > 0 && (await input.getAttribute("aria-describedby"));
  return id ? page.locator(`#${id}`).textContent() : undefined;
}

/** Moves the pointer over the toast, which then does not close by itself. */
const keepToast = () => page.locator("[data-sonner-toaster]").dispatchEvent("mouseover");

const noCompany = fieldErrors.required(fieldNamed("company").noun);

async function submitTwoErrors() {
  await openForm();
  await submit({ email: "ada@localhost", company: " " });
  await expectFailure(/^error: Joining the waitlist failed with status 422/);
}

it("the form shows the server's error at each invalid field, keeps the values, and focuses the first one", async () => {
  await submitTwoErrors();
  expect(await values()).toEqual(["Ada", "ada@localhost", " ", "Engineer"]);
  const errors = await Promise.all((["name", "email", "company"] as const).map(errorOf));
  expect(errors).toEqual([undefined, fieldErrors.email, noCompany]);
  await page.keyboard.press("Alt+t"); // Types a letter on some keyboards.
  expect(await focused()).toBe("early-access-email");
});

it("the toast of a failure covers only the bar", async () => {
  await submitTwoErrors();
  await keepToast();
  for (const width of [320, 768, 1440]) {
    await page.setViewportSize({ width, height: 700 });
    await animationsFinished(page);
    const [bar, over] = await boxes("header, [data-sonner-toast]");
    expect(over?.bottom, `at ${width} px`).toBeLessThanOrEqual(bar?.bottom ?? 0);
  }
});

it("the form drops the error of a corrected field", async () => {
  await submitTwoErrors();
  await keepToast();
  await field("email").fill("ada@");
  await field("company").fill("  ");
  expect(await errorOf("email")).toBeDefined();
  await field("email").fill("ada@example.com");
  expect([await errorOf("email"), await errorOf("company")]).toEqual([undefined, noCompany]);
  await submit({ email: "ada..b@gmial.com" }); // The browser accepts it.
  await page.locator("[name=email][aria-invalid=true]").waitFor();
  await page.getByRole("button", { name: earlyAccess.answers.use }).click();
  expect([await field("email").inputValue(), await errorOf("email")]).toEqual(["ada..b@gmail.com", undefined]);
  await submit();
  await successHeading().waitFor();
  await expect.poll(toastTexts, { timeout: 10_000 }).toEqual([success.title, success.text]);
});

// Above 16 KiB, the server reads no body.
it.each<[FieldName, length: number, limit: number, corrected: string]>([
  ["company", 201, 200, "Engines"],
  ["company", 20_000, 200, "Engines"],
  ["job_title", 101, 100, ""], // It is optional.
])(
  "a text pasted into %s, of %i characters, stays whole, and its field names the limit",
  async (name, length, limit, corrected) => {
    await openForm();
    await fill({ [name]: "" });
    await field(name).focus();
    await page.keyboard.insertText("x".repeat(length));
    await button().click();
    await page.locator(`[name=${name}][aria-invalid=true]:focus`).waitFor();
    expect(await errorOf(name)).toBe(fieldErrors.tooLong(limit));
    expect(await field(name).inputValue()).toHaveLength(length);
    await field(name).fill(corrected);
    expect(await errorOf(name)).toBeUndefined();
    await button().click();
    await successHeading().waitFor();
  },
);

it.each<[string, () => Promise<unknown>, RegExp, string | undefined]>([
  [
    "an error of the database",
    () => sites.wire.cut(),
    /failed with status 503/,
    `${refusals[503]} ${earlyAccess.wait(60)}`,
  ],
  [
    "a lost network",
    async () => {
      await page.waitForLoadState("networkidle"); // The script of the toasts is loaded.
      await page.context().setOffline(true);
    },
    /failed: TypeError/,
    earlyAccess.offline,
  ],
  [
    "15 s without a response",
    async () => {
      await page.evaluate(() => {
        const timeout = AbortSignal.timeout.bind(AbortSignal);
        AbortSignal.timeout = (ms) => {
          AbortSignal.timeout = timeout; // The next attempt has the whole time.
          return timeout(ms === 15_000 ? 1_000 : 3_600_000);
        };
      });
      await page.route(signups, () => undefined, { times: 1 });
    },
    /failed: (TimeoutError|DOMException)/,
    earlyAccess.noResponse,
  ],
  [
    "a 403 of the site",
    () => page.route(signups, (route) => intercept(route, 403, "application/problem+json"), { times: 1 }),
    /failed with status 403/,
    failure.text,
  ],
  ...(
    [
      [302, refusals[0]],
      [422, refusals[422]],
      [429, refusals[429]],
      [502, refusals[503]],
      [504, refusals[503]],
    ] as const
  ).map(([status, why]): [string, () => Promise<unknown>, RegExp, string | undefined] => [
    `a ${status} of a proxy`,
    () => page.route(signups, (route) => intercept(route, status), { times: 1 }),
    /failed with status/,
    why,
  ]),
])("the form keeps its values after %s, says why, and the next attempt succeeds", async (...[, fail, logged, why]) => {
  await openForm();
  await fill();
  await fail();
  await button().click();
  await expectFailure(logged);
  expect([await values(), await line()]).toEqual([Object.values(typed), why]);
  expect(await page.locator("form [type=submit]:focus[aria-describedby=early-access-failure]").count()).toBe(1);
  await sites.wire.mend();
  await page.context().setOffline(false);
  await button().click();
  await successHeading().waitFor();
  expect(await emails()).toEqual(["ada@example.com"]);
});

it.each([200, 403])(
  "a %i of a proxy leads to the plain form, which shows the proxy's page, and Back to what was typed",
  async (status) => {
    const submitAndReturn = async () => {
      await submit();
      await page.getByText("Log in").waitFor();
      await page.goBack();
      await hydrateForm(page);
      return values();
    };
    await openForm();
    // The answer 204 to the plain form lets the browser stay on the page.
    const stay = (route: Route) =>
      route.request().isNavigationRequest() ? route.fulfill({ status: 204 }) : route.fallback();
    await page.route(signups, (route) => intercept(route, status));
    await page.route(signups, stay);
    const plain = page.waitForRequest((request) => request.isNavigationRequest());
    await submit();
    await plain;
    await expect.poll(() => button().isEnabled()).toBe(true);
    await page.unroute(signups, stay);
    // Chromium saves what was typed after it shows the next page: a Back within milliseconds may lose it.
    await expect.poll(submitAndReturn, { timeout: 20_000 }).toEqual(Object.values(typed));
    // The visitor has solved the challenge, which a request of a script cannot do.
    await page.unroute(signups);
    await page.route(signups, (route) =>
      route.request().isNavigationRequest() ? route.continue() : intercept(route, status),
    );
    await button().click();
    await undo().click();
    await page.getByText(earlyAccess.undone).waitFor();
    expect(await emails()).toEqual([]);
  },
);

it.each(["null", "<p>", ""])(
  "a sign-up is shown as stored, also after a reload, if a proxy replaced the body of its 201 by %j",
  async (body) => {
    await openForm();
    await page.route(signups, async (route) => route.fulfill({ response: await route.fetch(), body }));
    await submit();
    await successHeading().waitFor();
    await page.reload();
    await successHeading().waitFor();
    expect([await undo().count(), await emails()]).toEqual([0, ["ada@example.com"]]);
  },
);

it("the form says that the list has closed since the page was loaded, and keeps its values", async () => {
  await sendFormTo(sites.closed.url, page);
  await openForm();
  await submit();
  const message = earlyAccess.closed.text;
  await toast().filter({ hasText: message }).waitFor();
  expect([await line(), await values(), await emails()]).toEqual([message, Object.values(typed), []]);
});

it("the form shows an error and can be sent again if the scripts of toasts and suggestions do not load", async () => {
  await page.route(/\/(?:toasts|suggested-email)-[^/]+\.js$/, (route) => route.abort());
  await page.route(signups, (route) => route.abort(), { times: 1 });
  await openForm();
  await submit({ email: "ada@gmial.com" });
  await page.locator("form").getByText(earlyAccess.noResponse).waitFor();
  await button().click();
  await successHeading().waitFor();
  expect(page.messages.filter((message) => message.startsWith("uncaught"))).toEqual([]);
});
