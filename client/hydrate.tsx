// The hydration of the early-access section by React.
import { StrictMode, startTransition } from "react";
import { hydrateRoot } from "react-dom/client";
import { formId } from "./shared/paths.ts";
import { ErrorBoundary } from "./early-access/error-boundary.tsx";
import { Panel } from "./early-access/panel.tsx";
import type { Hydration } from "./sections/early-access.tsx";
import { SettingsContext } from "./shared/site-settings.ts";

const section = document.getElementById(formId) as HTMLElement;
const { settings, state } = JSON.parse(section.dataset.hydration as string) as Hydration;

const content = (
  <StrictMode>
    <SettingsContext value={settings}>
      <ErrorBoundary>
        <Panel firstState={state} />
      </ErrorBoundary>
    </SettingsContext>
  </StrictMode>
);

// A browser that translates the page replaces its texts by <font> elements. React would render the form again, without what was
// typed; the form also works as plain HTML.
const isTranslated = section.querySelector("font") !== null;

// In a transition React yields to the browser every 5 ms; otherwise it hydrates in one long task.
if (!isTranslated) startTransition(() => void hydrateRoot(section, content));
