// The 404 page. The entry script logs the unknown path in the browser's console.
import { Message } from "./message.tsx";
import { notFound } from "../shared/content.ts";

export function NotFoundPage() {
  return <Message name="not-found" {...notFound} />;
}
