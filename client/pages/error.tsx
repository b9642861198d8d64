// The error page, which the server sends with a 500.
import { Message } from "./message.tsx";
import { errorPage } from "../shared/content.ts";

export function ErrorPage() {
  return <Message name="failed" {...errorPage} />;
}
