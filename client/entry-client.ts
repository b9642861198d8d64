// Decides when React is fetched: a visitor who only reads never pays for it.
import { formId } from "./addresses.ts";
import type { Hydration } from "./page-data.ts";

const root = document.getElementById("root") as HTMLElement;
// Where it cannot be fetched, the page goes on as plain HTML.
const hydrate = () => void import("./hydrate.tsx").catch(() => undefined);

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
