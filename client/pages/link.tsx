// The pages of the links in the confirmation mail: a button, whose POST to the same address acts, and the result.
import { useLocation } from "react-router-dom";
import { linkPages } from "../content.ts";
import { Message } from "./message.tsx";

export function LinkPage({ name }: { name: "confirm" | "leave" }) {
  const { ask, done } = linkPages[name];
  const upright = name === "confirm";
  if (useLocation().search !== "") return <Message name={name} upright={upright} {...done} link={linkPages.home} />;
  return (
    <Message name={name} upright={upright} heading={ask.heading} text={ask.text}>
      {/* Without an action, the form posts to the page's own address, with the token. */}
      <form method="post">
        <button className="button" type="submit">
          {ask.button}
        </button>
      </form>
    </Message>
  );
}
