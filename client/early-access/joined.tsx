// The message after a sign-up, beside an empty form.
import { use, useState, type FormEvent } from "react";
import { undoParam } from "../shared/paths.ts";
import { earlyAccess } from "../shared/content.ts";
import { SettingsContext } from "../shared/site-settings.ts";
import { undo } from "./join.ts";

interface Props {
  /** The token to undo the sign-up; "" on the server, undefined if there is none. */
  undoToken: string | undefined;
  /** Called when the sign-up is undone. */
  onUndone: () => void;
}

/** The id of the text that describes the heading above. */
export const joinedId = "early-access-joined";

export function Joined({ undoToken, onUndone }: Props) {
  const { mail, closed } = use(SettingsContext);
  const [failed, setFailed] = useState(false);

  async function submitUndo(event: FormEvent<HTMLFormElement>) {
    if (!undoToken) return; // The browser posts the form to the page's own URL, which has the token.
    event.currentTarget.action = `/?${undoParam}=${undoToken}`;
    const undoing = undo(undoToken);
    event.preventDefault(); // Not earlier: if the browser cannot create the request, it sends the plain form.
    if (await undoing) onUndone();
    else setFailed(true);
  }

  return (
    <div className={closed ? "joined form-card form-message" : "joined"}>
      <p id={joinedId}>{earlyAccess.success.text}</p>
      {mail && <p>{earlyAccess.success.inbox}</p>}
      {!mail && undoToken !== undefined && (
        <form method="post" onSubmit={submitUndo}>
          <button className="text-link" type="submit">
            {earlyAccess.success.undo}
          </button>
          <output>{failed && earlyAccess.failure.text}</output>
        </form>
      )}
    </div>
  );
}
