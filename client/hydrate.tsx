// The hydration of the early-access section by React.
import { StrictMode, startTransition, type ReactNode } from "react";
import { flushSync } from "react-dom";
import { createRoot, hydrateRoot } from "react-dom/client";
import { formId, undoParam } from "./shared/paths.ts";
import { ErrorBoundary } from "./early-access/error-boundary.tsx";
import { control } from "./early-access/field-input.tsx";
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

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;
const findControls = () => [...section.querySelectorAll<Control>(control)];

let controls: Control[] = [];
let focused: Element | null = null;

/** Rendered again in the task in which React replaces a form that it cannot hydrate. */
function KeepValues({ children }: { children: ReactNode }) {
  controls = findControls();
  focused = document.activeElement;
  return children;
}

/** An extension or a translation may change the form before its hydration; React then renders it anew, without what was typed. */
function recover(error: unknown) {
  console.warn("Rendered the form again, because something had changed it:", error);
  restoreValues();
}

function restoreValues() {
  for (const old of controls.splice(0)) {
    const current = findControls().find(({ id }) => id !== "" && id === old.id);
    if (!current) continue;
    current.value = old.value;
    if (old !== focused) continue;
    current.focus({ preventScroll: true });
    if (!("selectionStart" in old && "selectionStart" in current)) continue; // A <select> has no cursor.
    // Null in a field of type email, where the cursor moves to the end.
    if (old.selectionStart !== null) current.setSelectionRange(old.selectionStart, old.selectionEnd);
  }
}

const content = (
  <StrictMode>
    <KeepValues>
      <SettingsContext value={settings}>
        <ErrorBoundary>
          <Panel firstState={firstState} undoToken={undoToken} />
        </ErrorBoundary>
      </SettingsContext>
    </KeepValues>
  </StrictMode>
);

// In a transition React yields to the browser every 5 ms; otherwise it hydrates in one long task.
if (signup !== undefined) replaceForm();
else startTransition(() => void hydrateRoot(section, content, { onRecoverableError: recover }));

/** The browser may have filled in the form after a reload. */
function replaceForm() {
  flushSync(() => createRoot(section).render(content));
  restoreValues();
}
