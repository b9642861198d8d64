// The toasts, in a React root of their own; loaded when the form first gets focus.
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { toast, Toaster } from "sonner";
import "sonner/dist/styles.css";
import "./toasts.css";
import { earlyAccess } from "../content.ts";

const container = document.body.appendChild(document.createElement("div"));

// Render synchronously: a toast created before the Toaster has mounted would be lost.
flushSync(() =>
  createRoot(container).render(
    <Toaster theme="system" position="bottom-left" visibleToasts={3} duration={4000} richColors />,
  ),
);

export function notifySuccess() {
  toast.success(earlyAccess.success.title, {
    description: earlyAccess.success.text,
  });
}

export function notifyFailure() {
  toast.error(earlyAccess.failure.title, {
    description: earlyAccess.failure.text,
  });
}
