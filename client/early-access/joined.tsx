// The success state, which replaces the form.
import { use, useState, type FormEvent, type MouseEventHandler } from "react";
import { formId } from "../shared/addresses.ts";
import { Icon } from "../components/icon.tsx";
import { earlyAccess } from "../shared/content.ts";
import { SettingsContext } from "../shared/site-settings.ts";
import { undo } from "./join.ts";

interface Props {
  headingId: string;
  /** The token to undo the sign-up; "" if the page's own address has it, undefined if there is none. */
  undoToken: string | undefined;
  /** Called when the sign-up is undone. */
  onUndone: () => void;
  /** Called for a click on the link that brings the form back; without JavaScript the link loads the page. */
  onAgain: MouseEventHandler;
}

export function Joined({ headingId, undoToken, onUndone, onAgain }: Props) {
  const { mail, closed } = use(SettingsContext);
  const [failed, setFailed] = useState(false);
  const textId = `${headingId}-text`;

  async function submitUndo(event: FormEvent) {
    if (!undoToken) return; // The browser posts the form to the page's own address, which has the token.
    event.preventDefault();
    if (await undo(undoToken)) onUndone();
    else setFailed(true);
  }

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
      <p className="soft">{mail ? earlyAccess.success.inbox : earlyAccess.success.next}</p>
      {!closed && (
        <a className="button button-quiet" href={`/#${formId}`} onClick={onAgain}>
          {earlyAccess.success.again}
        </a>
      )}
      {!mail && undoToken !== undefined && (
        <form method="post" onSubmit={submitUndo}>
          <button className="undo" type="submit">
            {earlyAccess.success.undo}
          </button>
          <output className="field-error">{failed && earlyAccess.failure.text}</output>
        </form>
      )}
    </div>
  );
}
