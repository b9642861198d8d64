// The section with the early-access form. The browser hydrates its content, and no other part of the page.
import { use } from "react";
import { formId } from "../shared/paths.ts";
import { FormFailureContext, type LandingState } from "../shared/landing-state.ts";
import { headingId, Panel } from "../early-access/panel.tsx";
import { SettingsContext, type PageSettings } from "../shared/site-settings.ts";

/** The data that the browser needs for the hydration. */
export interface Hydration {
  settings: PageSettings;
  state: LandingState;
}

/** Without the form, or with a failed form post, plain HTML is enough. */
export function EarlyAccess({ state }: { state: LandingState }) {
  const settings = use(SettingsContext);
  const isHydrated = !settings.closed && !use(FormFailureContext);
  const hydration: Hydration = { settings, state };
  // oxlint-disable jsx-a11y/prefer-tag-over-role -- ELinks finds no fragment in a <section>
  return (
    <div
      id={formId}
      className="early-access"
      role="region"
      aria-labelledby={headingId}
      data-hydration={isHydrated ? JSON.stringify(hydration) : undefined}
    >
      <Panel firstState={state} />
    </div>
  );
}
