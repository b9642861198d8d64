// The page for a fault, on the server and in the browser.
import { Message } from "../components/message.tsx";
import { errorPage } from "../content.ts";

export function ErrorPage() {
  return <Message {...errorPage} />;
}
