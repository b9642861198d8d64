// Renders pages to HTML; the server loads this file, through Vite in development and bundled in production.
import { renderToString } from "react-dom/server";
import { StaticRouter } from "react-router-dom";
import { App } from "./app.tsx";
import { meta } from "./content.ts";
import type { FormFailure, Hydration, PageHead } from "./page-data.ts";
import { ErrorPage } from "./pages/error.tsx";
import { routeOf } from "./routes.tsx";

export { pageAddress, pageAddresses } from "./routes.tsx";

export interface RenderedPage {
  status: number;
  head: PageHead;
  body: string;
  /** What the browser hydrates: the address that was rendered. */
  address: string;
  hydration: Hydration;
}

/** @throws whatever a component throws. */
export function renderPage(address: string, failure?: FormFailure): RenderedPage {
  const { handle } = routeOf(address);
  const body = renderToString(
    <StaticRouter location={address}>
      <App failure={failure} />
    </StaticRouter>,
  );
  if (failure) {
    const head = {
      ...handle.head,
      title: meta.errorPrefix + handle.head.title,
      unlisted: true,
    };
    return { status: failure.status, head, body, address, hydration: "never" };
  }
  const joined = address.endsWith("?joined");
  const head = joined ? { ...handle.head, ...meta.joined, unlisted: true } : handle.head;
  return { ...handle, head, body, address };
}

/** The page for a fault: static, so that it can be rendered before there is one. */
export function renderErrorPage(): RenderedPage {
  const body = renderToString(<ErrorPage />);
  return {
    status: 500,
    head: { ...meta.error, unlisted: true },
    body,
    address: "",
    hydration: "never",
  };
}
