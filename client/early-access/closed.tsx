// What stands in place of the form while the list is closed. Only the server renders it.
import { use } from "react";
import { closedList, earlyAccess } from "../content.ts";
import { SettingsContext } from "../site-settings.ts";
import { FailedPostContext } from "./failed-post.ts";

interface Props {
  headingId: string;
  /** Whether the visitor has just undone a sign-up. */
  undone: boolean;
}

export function Closed({ headingId, undone }: Props) {
  const { contact } = use(SettingsContext);
  return (
    <div className="form-card joined closed">
      {use(FailedPostContext)?.summary}
      {undone && <p className="undone">{earlyAccess.undone}</p>}
      <h2 id={headingId}>{closedList.heading}</h2>
      <p>{closedList.text}</p>
      {contact && (
        <p className="soft">
          {closedList.contact} <a href={`mailto:${contact}`}>{contact}</a>.
        </p>
      )}
      <a className="button button-quiet" href="#features">
        {closedList.button}
      </a>
    </div>
  );
}
