// The hydration of the server's HTML by React.
import { StrictMode, startTransition } from "react";
import { hydrateRoot } from "react-dom/client";
import { MemoryRouter } from "react-router-dom";
import { App } from "./app.tsx";
import type { PageSettings } from "./site-settings.ts";

const root = document.getElementById("root") as HTMLElement;

// The router starts from the address that the server rendered. The address bar of a 404 page may hold a path that
// cannot be decoded. Links load new documents, so the router never navigates.
const app = (
  <StrictMode>
    <MemoryRouter initialEntries={[root.dataset.address as string]}>
      <App settings={JSON.parse(root.dataset.settings as string) as PageSettings} />
    </MemoryRouter>
  </StrictMode>
);

// In a transition React yields to the browser every 5 ms; otherwise it hydrates in one long task.
startTransition(() => {
  hydrateRoot(root, app);
});
