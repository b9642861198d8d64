// Decides when React is fetched: a visitor who only reads never pays for it.
import { formId } from "./addresses.ts";
import type { Hydration } from "./page-data.ts";

const root = document.getElementById("root") as HTMLElement;
let isHydrating = false;

// Where it cannot be fetched, the page goes on as plain HTML.
function hydrate() {
  isHydrating = true;
  import("./hydrate.tsx").catch(() => undefined);
}

if (import.meta.hot) {
  // Vite updates modules that this page has loaded; before hydration only the server has rendered them.
  import.meta.hot.on("vite:beforeUpdate", ({ updates }) => {
    if (!isHydrating && updates.some(({ type }) => type === "js-update")) location.reload();
  });
  // Without SharedWorker, Vite's client waits for a restarted server in the page; the CSP forbids its worker from a blob.
  Reflect.deleteProperty(window, "SharedWorker");
}

switch (root.dataset.hydration as Hydration) {
  case "near-form":
    whenNear(document.getElementById(formId) as HTMLElement);
    break;
  case "after-load":
    if (document.readyState === "complete") hydrate();
    else addEventListener("load", hydrate, { once: true });
    break;
  case "never":
}

/** Near: within one more screen of scrolling. */
function whenNear(form: HTMLElement) {
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
