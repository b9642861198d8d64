// The toasts, in a React root of their own; loaded when the form first gets focus.
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { toast, Toaster } from "sonner";
import "./toasts.css";
import { earlyAccess } from "../shared/content.ts";
import type { FailureReason } from "./join.ts";

const container = document.body.appendChild(document.createElement("div"));

// Render synchronously: a toast created before the Toaster has mounted would be lost.
flushSync(() =>
  createRoot(container).render(
    <Toaster
      theme="system"
      position="top-center"
      offset={2}
      mobileOffset={{ top: 2, left: 4, right: 4 }}
      duration={4000}
      richColors
      hotkey={[]} // Alt+T moves focus, and some keyboards type a letter with it.
    />,
  ),
);

/**
 * Shows the result of a sign-up over the navigation bar, where it covers no field of the form.
 * @param announce false if focus has moved to the result in the page: a screen reader has announced it then, and reads a
 *   toast in a silent live region only on request.
 */
export function showToast(result: "success" | FailureReason, { announce }: { announce: boolean }) {
  const { title, text } = earlyAccess[result];
  container.querySelector("section")?.setAttribute("aria-live", announce ? "polite" : "off");
  toast.dismiss(); // At most one toast; with the same id, the second would keep the time of the first.
  toast[result === "success" ? "success" : "error"](title, { description: text });
}
