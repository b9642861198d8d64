// Server rendering: finds the page for a request and renders it to HTML. Vite loads this file in development; the build bundles it.
import { renderToString } from "react-dom/server";
import { StaticRouter } from "react-router-dom";
import { meta } from "./shared/content.ts";
import { FormFailureSummary } from "./early-access/form-failure-summary.tsx";
import { FormFailureContext, type FormFailure } from "./shared/landing-state.ts";
import { pages, type Page, type PageId } from "./routes.tsx";
import { SettingsContext, type PageSettings } from "./shared/site-settings.ts";

export type { PageId };

/** A page's row, with what the settings and a failed form post change. */
export interface RenderedPage extends Page {
  id: PageId;
  status: number;
  body: string;
}

const rows = Object.entries<Page>(pages) as [PageId, Page][];

export const prerenderedIds = rows.filter(([, { prerendered }]) => prerendered).map(([id]) => id);

/** Paths of the pages that search engines may list, for the sitemap. */
export const listedPaths = rows.flatMap(([, { listed, path }]) => (listed && path ? [path] : []));

/** Returns the page of a URL, or undefined. Each page has one spelling: React Router would also take "/privacy/" for "/privacy". */
export function findPage(path: string, query: string): PageId | undefined {
  return rows.find(([, page]) => page.path === path && (!page.query || page.query.test(query)))?.[0];
}

/** @throws whatever a component throws. */
export function renderPage(id: PageId, settings: PageSettings, failure?: FormFailure): RenderedPage {
  const page: Page = pages[id];
  const shownFailure = failure && { ...failure, summary: <FormFailureSummary failure={failure} /> };
  const { path = "/*", element } = page;
  const body = renderToString(
    <StaticRouter location={path}>
      <SettingsContext value={settings}>
        <FormFailureContext value={shownFailure}>{element}</FormFailureContext>
      </SettingsContext>
    </StaticRouter>,
  );
  const description = (settings.closed && page.closedDescription) || page.description;
  const rendered = { status: 200, ...page, description, id, body };
  if (!failure) return rendered;
  const { status } = failure;
  return {
    ...rendered,
    status,
    title: meta.errorPrefix + page.title,
    caching: undefined,
    listed: false,
    countsViews: false,
  };
}
