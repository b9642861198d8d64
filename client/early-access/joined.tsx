// The success state, which replaces the form.
import type { MouseEventHandler } from "react";
import { formId } from "../addresses.ts";
import { Icon } from "../components/icon.tsx";
import { earlyAccess } from "../content.ts";

interface Props {
  headingId: string;
  /** Called for a click on the link that brings the form back; without JavaScript the link loads the page. */
  onAgain: MouseEventHandler;
}

export function Joined({ headingId, onAgain }: Props) {
  const textId = `${headingId}-text`;
  return (
    <div className="form-card joined">
      <span className="tick" aria-hidden="true">
        <Icon name="check" />
      </span>
      {/* Focus moves here after a sign-up: that is its one announcement, and the description adds the text to it. */}
      <h2 id={headingId} tabIndex={-1} aria-describedby={textId}>
        {earlyAccess.success.title}
      </h2>
      <p id={textId}>{earlyAccess.success.text}</p>
      <p className="soft">{earlyAccess.success.next}</p>
      <a className="button button-quiet" href={`/#${formId}`} onClick={onAgain}>
        {earlyAccess.success.again}
      </a>
    </div>
  );
}
