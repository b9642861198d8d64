// The panel with the early-access form, and the success of the latest sign-up.
import { use, useEffect, useState } from "react";
import { flushSync } from "react-dom";
import type { LandingState } from "../shared/landing-state.ts";
import { SeedHeading, Vine } from "../components/stem.tsx";
import { closedList, earlyAccess, meta } from "../shared/content.ts";
import { SettingsContext } from "../shared/site-settings.ts";
import { Closed } from "./closed.tsx";
import { EarlyAccessForm, undoneId } from "./form.tsx";
import { Joined, joinedId } from "./joined.tsx";
import { NextSteps } from "./next-steps.tsx";
import { saveSignup } from "./tab-history.ts";

export const headingId = "early-access-heading";

interface Props {
  firstState: LandingState;
  /** Empty if there is none, and on the server: without JavaScript, the page's own URL has it. */
  undoToken?: string;
}

export function Panel({ firstState, undoToken: firstToken = "" }: Props) {
  const settings = use(SettingsContext);
  const [state, setState] = useState(firstState);
  const [undoToken, setUndoToken] = useState(firstToken);
  const [signups, setSignups] = useState(0); // Each one mounts a new form.
  const joined = state === "joined" || state === "undoable";

  useEffect(() => {
    const save = () => saveSignup(joined ? undoToken : undefined);
    save();
    document.title = (joined ? meta.joined : meta.landing).title;
    addEventListener("popstate", save); // A link within the page leads to an entry of the history without the state.
    return () => removeEventListener("popstate", save);
  }, [joined, undoToken]);

  /** Renders synchronously, so that the element that gets focus exists. */
  function show(next: LandingState, focus?: string) {
    flushSync(() => setState(next));
    if (focus) focusResult(focus);
  }

  function showSuccess(moveFocus: boolean, token = "") {
    setUndoToken(token);
    setSignups(signups + 1);
    show(token ? "undoable" : "joined", moveFocus ? headingId : undefined);
  }

  const undone = state === "undone";
  const closed = import.meta.env.SSR && settings.closed; // The browser never hydrates a closed list.
  const title = joined ? earlyAccess.success.title : closedList.heading;
  return (
    <div className="page">
      <div className="panel bed">
        <div className="panel-content lane">
          <Vine />
          {/* After a sign-up focus moves here: that is its one announcement, and the description adds the text to it. */}
          <h2 id={headingId} tabIndex={joined ? -1 : undefined} aria-describedby={joined ? joinedId : undefined}>
            {joined || closed ? title : <SeedHeading>{earlyAccess.heading}</SeedHeading>}
          </h2>
          {joined && (
            <Joined
              key={undoToken}
              undoToken={state === "undoable" ? undoToken : undefined}
              onUndone={() => show("undone", undoneId)}
            />
          )}
          {closed && !joined && <Closed undone={undone} />}
          {/* After a sign-up, the steps come first, for a screen reader, too: they are the news, and the form is for another person. */}
          {joined && <NextSteps joined />}
          {!closed && <EarlyAccessForm key={signups} again={joined} undone={undone} onJoined={showSuccess} />}
          {!joined && <NextSteps />}
        </div>
      </div>
    </div>
  );
}

/** Focuses a result. If it is not wholly in view, the heading moves to the top: a browser would center the result, below the prices. */
function focusResult(id: string) {
  const result = document.getElementById(id) as HTMLElement;
  result.focus({ preventScroll: true });
  const { top, bottom } = result.getBoundingClientRect();
  const bar = document.querySelector("header")?.getBoundingClientRect().bottom ?? 0;
  if (top < Math.max(bar, 0) || bottom > innerHeight) document.getElementById(headingId)?.scrollIntoView();
}
