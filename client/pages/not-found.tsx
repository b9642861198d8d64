// The 404 page, which logs the unknown path in the browser's console, as specified.
import { useEffect } from "react";
import { Message } from "./message.tsx";
import { notFound } from "../content.ts";

export function NotFoundPage() {
  useEffect(() => {
    console.warn("404: there is no page at", window.location.pathname);
  }, []);
  return <Message name="not-found" {...notFound} />;
}
