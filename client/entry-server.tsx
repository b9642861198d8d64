// Server rendering: finds the page for a request and renders it to HTML. Vite loads this file in development; the build bundles it.
import { renderToString } from "react-dom/server";
import { matchRoutes, StaticRouter, useRoutes } from "react-router-dom";
import {
  confirmPath,
  isDecodable,
  landingPath,
  landingState,
  leavePath,
  readToken,
  tokenParam,
  unknownPath,
} from "./shared/paths.ts";
import { closedList, linkPages, meta, product } from "./shared/content.ts";
import { FormFailureContext } from "./early-access/form-failure-context.ts";
import { FormFailureSummary } from "./early-access/form-failure-summary.tsx";
import type { FormFailure, PageHead } from "./shared/page-data.ts";
import { listedPaths, prerenderedPaths, routes, type PageRoute } from "./routes.tsx";
import { SettingsContext, type PageSettings } from "./shared/site-settings.ts";

export { listedPaths, prerenderedPaths };

export interface RenderedPage {
  status: number;
  head: PageHead;
  body: string;
  /** The path that was rendered; the query of "/?joined" is the state of the landing page. */
  path: string;
}

/**
 * Returns the path to render for a request: the path, for the landing page with its state, or unknownPath if no route
 * matches, or if a link lacks its token.
 */
export function pagePath(path: string, query: string): string {
  if (!hasPage(path)) return unknownPath;
  if (path === confirmPath || path === leavePath) return readToken(query, tokenParam) ? path : unknownPath;
  return path === "/" ? landingPath(landingState(query)) : path;
}

/** @throws whatever a component throws. */
export function renderPage(path: string, settings: PageSettings, failure?: FormFailure): RenderedPage {
  const [pathname = ""] = path.split("?", 1);
  const handle = match(pathname)?.route.handle;
  if (!handle) throw new Error(`There is no route for ${pathname}`);
  const shownFailure = failure && { ...failure, summary: <FormFailureSummary failure={failure} /> };
  const body = renderToString(
    <StaticRouter location={path}>
      <SettingsContext value={settings}>
        <FormFailureContext value={shownFailure}>
          <Page />
        </FormFailureContext>
      </SettingsContext>
    </StaticRouter>,
  );
  const head = describeHead(path, handle.head, settings, failure);
  return { status: failure?.status ?? handle.status, head, body, path };
}

function Page() {
  return useRoutes(routes);
}

function describeHead(path: string, head: PageHead, { closed }: PageSettings, failure?: FormFailure): PageHead {
  const [pathname, query] = path.split("?", 2);
  // While the list is closed, the description must not ask visitors to join.
  const page = closed && pathname === "/" ? { ...head, description: closedList.description } : head;
  if (failure) return { ...page, title: meta.errorPrefix + page.title, unlisted: true };
  return query === undefined ? page : { ...page, ...findTitle(path), unlisted: true };
}

/** Returns the title of a page whose path has a query, if it differs from the title without. */
function findTitle(path: string): Pick<PageHead, "title"> | undefined {
  if (path === landingPath("joined") || path === landingPath("undoable")) return meta.joined;
  const linkPage = linkPages[path];
  return linkPage && { title: `${linkPage.heading} – ${product.name}` };
}

const matchCase = (route: PageRoute) => ({ ...route, caseSensitive: true });
const table = routes.map(matchCase);

/** In characters; no page has a longer path. Matching 16 KB of slashes costs as much as 12 pages. */
const longestPath = 1_000;

/** Each page has one spelling: React Router would also take "/about/" and "/%61bout" for "/about". */
function hasPage(path: string): boolean {
  // React Router would print a warning for a path that it cannot decode.
  if (path.length > longestPath || !isDecodable(path)) return false;
  const found = match(path);
  return found?.route.handle.status === 200 && encodeURI(found.pathname.replace(/(?<=.)\/$/, "")) === path;
}

function match(path: string) {
  return matchRoutes(table, path)?.at(-1);
}
