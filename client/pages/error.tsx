// The error page: the server sends it with a 500, the browser shows it if a component throws.
import { Message } from "./message.tsx";
import { errorPage } from "../shared/content.ts";

export function ErrorPage() {
  return <Message name="failed" {...errorPage} />;
}
