// The pages of the links in the confirmation mail: a button, whose POST to the same path acts, and the result.
import { linkPagesHome, type LinkPageCopy } from "../shared/content.ts";
import { Message, type PlantName } from "./message.tsx";

export function LinkPage({ button, plant, ...copy }: LinkPageCopy & { plant: PlantName }) {
  return (
    <Message name="link" plant={plant} {...copy} link={button ? undefined : linkPagesHome}>
      {/* Without an action, the form posts to the page's own URL, with the token. */}
      {button && (
        <form method="post">
          <button className="button" type="submit">
            {button}
          </button>
        </form>
      )}
    </Message>
  );
}
