// The panel with the early-access form, which the success state replaces; a form post without JavaScript returns to it.
import { use, useState, type MouseEvent } from "react";
import { flushSync } from "react-dom";
import { formId, joinedQuery, undoneQuery, undoQuery } from "../shared/addresses.ts";
import { SeedHeading, Vine } from "../components/stem.tsx";
import { closedList, earlyAccess, meta } from "../shared/content.ts";
import { SettingsContext } from "../shared/site-settings.ts";
import { Closed } from "./closed.tsx";
import { fieldId } from "./field-input.tsx";
import { EarlyAccessForm, undoneId } from "./form.tsx";
import { Joined, joinedId } from "./joined.tsx";
import { NextSteps } from "./next-steps.tsx";

export const headingId = "early-access-heading";

export type Step = "form" | "joined" | "undone";

export interface PanelProps {
  firstStep: Step;
  /** "" if the address of the page has the token, as it does without JavaScript. */
  firstToken?: string | undefined;
}

export function Panel({ firstStep, firstToken }: PanelProps) {
  const [step, setStep] = useState(firstStep);
  const [undoToken, setUndoToken] = useState(firstToken);

  /** Renders synchronously, so that the element that gets focus exists. */
  function show(next: Step, focus?: string) {
    flushSync(() => setStep(next));
    updateAddress(next === "joined");
    if (focus) document.getElementById(focus)?.focus();
  }

  function showSuccess(moveFocus: boolean, token: string | undefined) {
    setUndoToken(token);
    show("joined", moveFocus ? headingId : undefined);
  }

  function showForm(event: MouseEvent) {
    event.preventDefault();
    show("form", fieldId("name"));
  }

  const joined = step === "joined";
  const closed = import.meta.env.SSR && use(SettingsContext).closed && !joined;
  const hasForm = !joined && !closed;
  return (
    <div className="page">
      <div className="panel bed">
        <div className="panel-content lane">
          <Vine />
          {/* After a sign-up focus moves here: that is its one announcement, and the description adds the text to it. */}
          <h2 id={headingId} tabIndex={joined ? -1 : undefined} aria-describedby={joined ? joinedId : undefined}>
            {joined && earlyAccess.success.title}
            {closed && closedList.heading}
            {hasForm && <SeedHeading>{earlyAccess.heading}</SeedHeading>}
          </h2>
          {joined && <Joined undoToken={undoToken} onUndone={() => show("undone", undoneId)} onAgain={showForm} />}
          {closed && <Closed undone={step === "undone"} />}
          {hasForm && <EarlyAccessForm headingId={headingId} undone={step === "undone"} onJoined={showSuccess} />}
          <NextSteps joined={joined} />
        </div>
      </div>
    </div>
  );
}

/** Makes a reload show the same state. The other parameters stay: they are the campaign. */
function updateAddress(joined: boolean) {
  const url = new URL(location.href);
  if (joined) url.searchParams.set(joinedQuery, "");
  else url.searchParams.delete(joinedQuery);
  url.searchParams.delete(undoQuery);
  url.searchParams.delete(undoneQuery);
  url.hash = formId;
  history.replaceState(null, "", url);
  document.title = (joined ? meta.joined : meta.landing).title;
}
