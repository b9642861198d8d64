// The error page, which the server sends with a 500. Its link repeats the request for the page.
import { Message } from "./message.tsx";
import { errorPage } from "../shared/content.ts";

export function ErrorPage() {
  return <Message name="failed" {...errorPage} href="" />;
}
