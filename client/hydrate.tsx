// Lets React take over the HTML that the server sent.
import { StrictMode, startTransition } from "react";
import { hydrateRoot } from "react-dom/client";
import { MemoryRouter } from "react-router-dom";
import { App } from "./app.tsx";

const root = document.getElementById("root") as HTMLElement;

// The server has matched the address already, and links load documents: so the router starts from what was
// rendered, not from the address bar, which on a 404 may hold anything, even what cannot be decoded.
const app = (
  <StrictMode>
    <MemoryRouter initialEntries={[root.dataset.address as string]}>
      <App />
    </MemoryRouter>
  </StrictMode>
);

// As a transition React works in slices of 5 ms, between which the page answers; otherwise it hydrates in one go.
startTransition(() => {
  hydrateRoot(root, app);
});
