// The message that replaces the form while the list is closed. Only the server renders it.
import { use } from "react";
import { FormFailureContext } from "../shared/landing-state.ts";
import { closedList, earlyAccess } from "../shared/content.ts";

/** @param undone whether the visitor has just undone a sign-up. */
export function Closed({ undone }: { undone: boolean }) {
  return (
    <div className="form-card form-message">
      {use(FormFailureContext)?.summary}
      {undone && <p className="undone">{`${earlyAccess.undone}.`}</p>}
      <p>{closedList.text}</p>
      <a className="button button-quiet" href="#features">
        {closedList.button}
      </a>
    </div>
  );
}
