// The section with the early-access form, which the success state replaces; a form post without JavaScript returns to it.
import { useState, type MouseEvent } from "react";
import { flushSync } from "react-dom";
import { useLocation } from "react-router-dom";
import { formId, joinedQuery } from "../addresses.ts";
import { Sentence } from "../components/sentence.tsx";
import { earlyAccess, meta } from "../content.ts";
import { fieldId } from "../early-access/field-input.tsx";
import { EarlyAccessForm } from "../early-access/form.tsx";
import { Joined } from "../early-access/joined.tsx";
import { NextSteps } from "../early-access/next-steps.tsx";

const headingId = "early-access-heading";

export function EarlyAccess() {
  const { search } = useLocation();
  const [joined, setJoined] = useState(search === `?${joinedQuery}`);

  /** Renders synchronously, so that the element that gets focus next exists. */
  function show(success: boolean) {
    flushSync(() => setJoined(success));
    updateAddress(success);
  }

  function showSuccess(moveFocus: boolean) {
    show(true);
    if (moveFocus) document.getElementById(headingId)?.focus();
  }

  function showForm(event: MouseEvent) {
    event.preventDefault();
    show(false);
    document.getElementById(fieldId("name"))?.focus();
  }

  // Focusable, so that a link to it moves focus and a screen reader starts reading here.
  return (
    <section id={formId} className="early-access" tabIndex={-1} aria-labelledby={headingId}>
      <div className="page">
        <div className="panel bed">
          {joined && <Joined headingId={headingId} onAgain={showForm} />}
          <div className="panel-words">
            {!joined && (
              <h2 id={headingId}>
                <Sentence>{earlyAccess.heading}</Sentence>
              </h2>
            )}
            <NextSteps joined={joined} />
          </div>
          {!joined && <EarlyAccessForm headingId={headingId} onJoined={showSuccess} />}
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
  url.hash = formId;
  history.replaceState(null, "", url);
  document.title = (joined ? meta.joined : meta.landing).title;
}
