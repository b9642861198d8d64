// The hydration of the early-access section by React.
import { StrictMode, startTransition } from "react";
import { createRoot, hydrateRoot } from "react-dom/client";
import { formId, undoParam } from "./shared/paths.ts";
import { ErrorBoundary } from "./early-access/error-boundary.tsx";
import { Panel } from "./early-access/panel.tsx";
import { readSignup } from "./early-access/tab-history.ts";
import type { Hydration } from "./sections/early-access.tsx";
import { SettingsContext } from "./shared/site-settings.ts";

const section = document.getElementById(formId) as HTMLElement;
const { settings, state } = JSON.parse(section.dataset.hydration as string) as Hydration;

/** After a reload. A visitor who already types keeps the form. */
const signup = section.querySelector(":focus") ? undefined : readSignup();
const firstState = signup === undefined ? state : signup ? "undoable" : "joined";
const undoToken = signup ?? new URLSearchParams(location.search).get(undoParam) ?? "";

const content = (
  <StrictMode>
    <SettingsContext value={settings}>
      <ErrorBoundary>
        <Panel firstState={firstState} undoToken={undoToken} />
      </ErrorBoundary>
    </SettingsContext>
  </StrictMode>
);

// A browser that translates the page replaces its texts by <font> elements. React would render the form again, without what was
// typed; the form also works as plain HTML.
const isTranslated = section.querySelector("font") !== null;

// In a transition React yields to the browser every 5 ms; otherwise it hydrates in one long task.
if (signup !== undefined) replaceForm();
else if (!isTranslated) startTransition(() => void hydrateRoot(section, content));

/** The new elements take the height of the old ones, so that nothing moves. */
function replaceForm() {
  const { offsetHeight } = section.querySelector(".panel-content") as HTMLElement;
  section.style.setProperty("--panel-height", `${offsetHeight}px`);
  createRoot(section).render(content);
}
