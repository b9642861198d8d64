// The pages of the links in mails: a button, whose POST to the same path acts, and the result.
import { use } from "react";
import { linkPages, linkPagesHome, type LinkPageCopy } from "../shared/content.ts";
import { isKeyOf, PageContext, type PageId } from "../shared/landing-state.ts";
import { Message, type PlantName } from "./message.tsx";

const plants: Partial<Record<PageId, PlantName>> = { confirm: "seedling", confirmed: "grown", leave: "grown" };

export function LinkPage() {
  const page = use(PageContext);
  const { button, ...copy }: LinkPageCopy = linkPages[isKeyOf(linkPages, page) ? page : "dead"];
  return (
    <Message name="link" plant={plants[page] ?? "wilted"} {...copy} link={button ? undefined : linkPagesHome}>
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
