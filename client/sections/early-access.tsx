// The section with the early-access form, which the success state replaces; a form post without JavaScript returns to it.
import { use, useState, type MouseEvent } from "react";
import { flushSync } from "react-dom";
import { useLocation } from "react-router-dom";
import { formId, joinedQuery, undoableAddress, undoneQuery, undoQuery } from "../addresses.ts";
import { Sentence } from "../components/sentence.tsx";
import { earlyAccess, meta } from "../content.ts";
import { Closed } from "../early-access/closed.tsx";
import { fieldId } from "../early-access/field-input.tsx";
import { EarlyAccessForm, undoneId } from "../early-access/form.tsx";
import { Joined } from "../early-access/joined.tsx";
import { NextSteps } from "../early-access/next-steps.tsx";
import { SettingsContext } from "../site-settings.ts";

const headingId = "early-access-heading";

type Step = "form" | "joined" | "undone";

function firstStep(search: string): Step {
  if (search.startsWith(`?${joinedQuery}`)) return "joined";
  return search === `?${undoneQuery}` ? "undone" : "form";
}

export function EarlyAccess() {
  const { search, pathname } = useLocation();
  const [step, setStep] = useState(firstStep(search));
  // Without JavaScript, the address of the page has the token.
  const [undoToken, setUndoToken] = useState(pathname + search === undoableAddress ? "" : undefined);

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
  // Focusable, so that a link to it moves focus and a screen reader starts reading here.
  return (
    <section id={formId} className="early-access" tabIndex={-1} aria-labelledby={headingId}>
      <div className="page">
        <div className="panel bed">
          {joined && (
            <Joined
              headingId={headingId}
              undoToken={undoToken}
              onUndone={() => show("undone", undoneId)}
              onAgain={showForm}
            />
          )}
          {closed && <Closed headingId={headingId} undone={step === "undone"} />}
          <div className="panel-words">
            {hasForm && (
              <h2 id={headingId}>
                <Sentence>{earlyAccess.heading}</Sentence>
              </h2>
            )}
            <NextSteps joined={joined} />
          </div>
          {hasForm && <EarlyAccessForm headingId={headingId} undone={step === "undone"} onJoined={showSuccess} />}
        </div>
      </div>
    </section>
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
