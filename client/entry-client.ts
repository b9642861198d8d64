// The browser's entry script, which fetches React only when the page needs it.
import { formId, viewPath } from "./addresses.ts";
import type { Hydration } from "./page-data.ts";

const root = document.getElementById("root") as HTMLElement;
// Smooth scrolling begins here: before, a browser would scroll through the whole page to the fragment of its URL.
addEventListener("load", () => document.documentElement.classList.add("loaded"), { once: true });
let isHydrating = false;

// If the fetch fails, the page still works as plain HTML.
function hydrate() {
  isHydrating = true;
  import("./hydrate.tsx").catch(() => undefined);
}

if (import.meta.hot) {
  // Vite updates only modules that the page has loaded. Before hydration the page has loaded none, so reload it.
  import.meta.hot.on("vite:beforeUpdate", ({ updates }) => {
    if (!isHydrating && updates.some(({ type }) => type === "js-update")) location.reload();
  });
  // Vite's client waits for a restarted server in a SharedWorker from a blob: URL, which the CSP forbids. Without the
  // constructor it waits in the page.
  Reflect.deleteProperty(window, "SharedWorker");
}

switch (root.dataset.hydration as Hydration) {
  case "near-form":
    hydrateNearForm(document.getElementById(formId));
    break;
  case "after-load":
    if (document.readyState === "complete") hydrate();
    else addEventListener("load", hydrate, { once: true });
    break;
  case "never":
}

if ("beacon" in root.dataset) {
  // A prerendered page, or one in a background tab, may never be seen.
  if (document.visibilityState === "visible") reportView();
  else document.addEventListener("visibilitychange", reportView, { once: true });
}

function reportView() {
  const utm_source = new URLSearchParams(location.search).get("utm_source") ?? "";
  const referrer = document.referrer.split("/")[2] ?? "";
  navigator.sendBeacon(`${viewPath}?${new URLSearchParams({ utm_source, referrer }).toString()}`);
}

/** Hydrates when the form is at most one screen away, or has focus. A page without the form is never hydrated. */
function hydrateNearForm(form: HTMLElement | null) {
  if (!form) return;
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      hydrate();
    },
    { rootMargin: "100%" },
  );
  observer.observe(form);
  form.addEventListener("focusin", hydrate, { once: true });
}
