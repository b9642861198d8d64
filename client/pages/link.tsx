// The pages of the links in the confirmation mail: a button, whose POST to the same path acts, and the result.
import { useLocation } from "react-router-dom";
import { confirmedPath, confirmPath, expiredPath, leavePath, leftPath } from "../shared/paths.ts";
import { linkPages, linkPagesHome, type LinkPageCopy } from "../shared/content.ts";
import { Message, type PlantName } from "./message.tsx";

const plants: Record<string, PlantName> = {
  [confirmPath]: "seedling",
  [confirmedPath]: "grown",
  [expiredPath]: "wilted",
  [leavePath]: "grown",
  [leftPath]: "wilted",
};

export function LinkPage() {
  const { pathname, search } = useLocation();
  const path = pathname + search;
  const { button, ...copy } = linkPages[path] as LinkPageCopy;
  return (
    <Message name="link" plant={plants[path]} {...copy} link={button ? undefined : linkPagesHome}>
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
