// Lets React take over the HTML that the server sent.
import { StrictMode } from "react";
import { hydrateRoot } from "react-dom/client";
import { MemoryRouter } from "react-router-dom";
import { App } from "./app.tsx";

const root = document.getElementById("root") as HTMLElement;

// The server has matched the address already, and links load documents: so the router starts from what was
// rendered, not from the address bar, which on a 404 may hold anything, even what cannot be decoded.
hydrateRoot(
  root,
  <StrictMode>
    <MemoryRouter initialEntries={[root.dataset.address as string]}>
      <App />
    </MemoryRouter>
  </StrictMode>,
);
