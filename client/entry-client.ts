// The browser's entry script, which fetches React only when the visitor comes near the form.
import { readSignup } from "./early-access/tab-history.ts";
import type { PageId } from "./shared/landing-state.ts";
import { formId, joinedPath, viewPath } from "./shared/paths.ts";

const root = document.getElementById("root");
// Enable smooth scrolling after the load: before, a browser would scroll through the whole page to the fragment of its URL.
addEventListener("load", () => document.documentElement.classList.add("loaded"), { once: true });

const section = document.getElementById(formId);
const undoToken = readSignup();
if (section?.dataset.hydration) hydrateNear(section);
else if (section && undoToken !== undefined) location.replace(joinedPath(undoToken)); // The list has closed since the sign-up.

// A tremor may hold Enter: it would press again whatever has focus after each press, such as the button of a refused form.
addEventListener("keydown", (event) => {
  if (event.repeat && event.key === "Enter") event.preventDefault();
});

if (root?.dataset.page === ("*" satisfies PageId)) console.warn("404: there is no page at", location.pathname);

if (root && "beacon" in root.dataset) {
  // A prerendered page, or one in a background tab, may never be seen.
  if (document.visibilityState === "visible") reportView();
  else document.addEventListener("visibilitychange", reportView, { once: true });
}

const business = document.querySelector<HTMLInputElement>(".business-input input");
if (business) showBusiness(business);

/** The business that the visitor types replaces that of the examples, and fills in the form's company, unless it has another one. */
function showBusiness(input: HTMLInputElement) {
  let filledIn = "";
  /** Returns "" if nothing of what is typed can be seen. */
  const typed = () => (/[^\p{C}\p{Z}\p{DI}]/u.test(input.value) ? input.value.normalize().trim() : "");
  const show = () => {
    const name = typed() || input.defaultValue;
    const characters = Array.from(name);
    const shown = characters.length > 40 ? `${characters.slice(0, 39).join("")}…` : name;
    for (const place of document.querySelectorAll(".business")) place.textContent = shown;
    const label = input.parentElement as HTMLElement;
    label.dataset.name = shown;
    label.classList.toggle("typed", name !== input.defaultValue);
  };
  const company = () => section?.querySelector<HTMLInputElement>("[name=company]");
  const markCompany = () => {
    const field = company();
    field?.classList.toggle("from-example", field.value !== "" && field.value === filledIn);
  };
  input.readOnly = false;
  // The visitor types in place of the first name, which is the placeholder, too: when the mouse button goes up, Safari drops a selection.
  input.addEventListener("focus", () => {
    if (input.value === input.defaultValue) input.value = "";
  });
  input.addEventListener("blur", () => (input.value = typed() || input.defaultValue));
  input.addEventListener("input", () => {
    show();
    const field = company();
    if (field && ["", filledIn].includes(field.value)) field.value = filledIn = typed();
    markCompany();
  });
  section?.addEventListener("input", markCompany);
  addEventListener("pageshow", show); // After Back or a reload, some browsers restore the field.
}

function reportView() {
  const utm_source = new URLSearchParams(location.search).get("utm_source") ?? "";
  const referrer = document.referrer.split("/")[2] ?? "";
  // Some visitors switch beacons off. An error here would stop the hydration, because its script imports this one.
  navigator.sendBeacon?.(`${viewPath}?${new URLSearchParams({ utm_source, referrer }).toString()}`);
}

/**
 * Hydrates the section when it is at most one screen away, has focus, or shows a sign-up again. React takes 60 ms on a phone; a
 * visitor who does not come near the form does not wait for it. If the fetch fails, the form works as plain HTML.
 */
function hydrateNear(element: HTMLElement) {
  const hydrate = () => void import("./hydrate.tsx").catch(() => undefined);
  if (undoToken !== undefined) hydrate();
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      hydrate();
    },
    { rootMargin: "100%" },
  );
  observer.observe(element);
  element.addEventListener("focusin", hydrate, { once: true });
}
