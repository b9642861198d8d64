// The message that replaces the form while the list is closed. Only the server renders it.
import { use } from "react";
import { closedList, earlyAccess } from "../shared/content.ts";
import { FormFailureContext } from "./form-failure-context.ts";

interface Props {
  headingId: string;
  /** Whether the visitor has just undone a sign-up. */
  undone: boolean;
}

export function Closed({ headingId, undone }: Props) {
  return (
    <div className="form-card joined closed">
      {use(FormFailureContext)?.summary}
      {undone && <p className="undone">{earlyAccess.undone}</p>}
      <h2 id={headingId}>{closedList.heading}</h2>
      <p>{closedList.text}</p>
      <a className="button button-quiet" href="#features">
        {closedList.button}
      </a>
    </div>
  );
}
