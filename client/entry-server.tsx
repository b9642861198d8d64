// Server rendering: finds the page for an address and renders it to HTML. Vite loads this file in development; the build bundles it.
import { renderToString } from "react-dom/server";
import { matchRoutes, StaticRouter, useRoutes } from "react-router-dom";
import {
  confirmPath,
  isDecodable,
  joinedQuery,
  leavePath,
  readToken,
  tokenQuery,
  undoableAddress,
  undoneQuery,
  undoQuery,
  unknownAddress,
} from "./shared/addresses.ts";
import { closedList, linkPages, meta, product } from "./shared/content.ts";
import { FormFailureContext } from "./early-access/form-failure-context.ts";
import { FormFailureSummary } from "./early-access/form-failure-summary.tsx";
import type { FormFailure, PageHandle, PageHead } from "./shared/page-data.ts";
import { ErrorPage } from "./pages/error.tsx";
import { onDemandAddresses, prerenderedAddresses, routes, type PageRoute } from "./routes.tsx";
import { SettingsContext, type PageSettings } from "./shared/site-settings.ts";

export { onDemandAddresses, prerenderedAddresses };

export interface RenderedPage {
  status: number;
  head: PageHead;
  body: string;
  /** The address that was rendered. */
  address: string;
}

/**
 * Returns the address to render for a request: the path, with the landing page's state as its query, or unknownAddress if no
 * route matches, or if a link lacks its token.
 */
export function pageAddress(path: string, query: string, table = routes): string {
  if (!hasPage(table, path)) return unknownAddress;
  if (path === confirmPath || path === leavePath) return readToken(query, tokenQuery) ? path : unknownAddress;
  return path === "/" ? landingAddress(query) : path;
}

function landingAddress(query: string): string {
  // Not URLSearchParams: parsing a query of 16 KB costs as much as 40 requests.
  if (/(?:^|&)joined(?:[=&]|$)/.test(query)) return readToken(query, undoQuery) ? undoableAddress : `/?${joinedQuery}`;
  return /(?:^|&)undone(?:[=&]|$)/.test(query) ? `/?${undoneQuery}` : "/";
}

/** Returns the addresses for the sitemap. */
export function listedAddresses(): string[] {
  return prerenderedAddresses.filter((path) => hasPage(routes, path) && !findHandle(match(routes, path)).head.unlisted);
}

/** @throws whatever a component throws. */
export function renderPage(
  address: string,
  settings: PageSettings,
  failure?: FormFailure,
  table = routes,
): RenderedPage {
  const [path = ""] = address.split("?", 1);
  const handle = findHandle(match(table, path));
  const shownFailure = failure && { ...failure, summary: <FormFailureSummary failure={failure} /> };
  const body = renderToString(
    <StaticRouter location={address}>
      <SettingsContext value={settings}>
        <FormFailureContext value={shownFailure}>
          <Page table={table} />
        </FormFailureContext>
      </SettingsContext>
    </StaticRouter>,
  );
  const head = describeHead(address, handle, settings, failure);
  return { status: failure?.status ?? handle.status, head, body, address };
}

function Page({ table }: { table: PageRoute[] }) {
  return useRoutes(table);
}

function describeHead(
  address: string,
  { head }: PageHandle,
  { closed }: PageSettings,
  failure?: FormFailure,
): PageHead {
  const [path, query] = address.split("?", 2);
  // While the list is closed, the description must not ask visitors to join.
  const page = closed && path === "/" ? { ...head, description: closedList.description } : head;
  if (failure) {
    const prefix = failure.suggestion ? meta.questionPrefix : meta.errorPrefix;
    return { ...page, title: prefix + page.title, unlisted: true };
  }
  return query === undefined ? page : { ...page, ...findTitle(address), unlisted: true };
}

/** Returns the title of a page whose address has a query, if it differs from the title of its path. */
function findTitle(address: string): Pick<PageHead, "title"> | undefined {
  if (address.startsWith(`/?${joinedQuery}`)) return meta.joined;
  const linkPage = linkPages[address];
  return linkPage && { title: `${linkPage.heading} – ${product.name}` };
}

/** Renders the page for a fault of the server. The page is static, so that it can be rendered before there is a fault. */
export function renderErrorPage(settings: PageSettings): RenderedPage {
  const body = renderToString(
    <SettingsContext value={settings}>
      <ErrorPage />
    </SettingsContext>,
  );
  return { status: 500, head: { ...meta.error, unlisted: true }, body, address: "" };
}

/** In characters; no page has a longer path. Matching 16 KB of slashes costs as much as 12 pages. */
const longestPath = 1_000;

/** Each page has one spelling: React Router would also take "/about/" and "/%61bout" for "/about". */
function hasPage(table: PageRoute[], path: string): boolean {
  // React Router would print a warning for a path that it cannot decode.
  if (path.length > longestPath || !isDecodable(path)) return false;
  const matches = match(table, path);
  const pathname = matches.at(-1)?.pathname ?? "";
  return encodeURI(pathname.replace(/(?<=.)\/$/, "")) === path && findHandle(matches).status !== 404;
}

function match(table: PageRoute[], path: string) {
  return matchRoutes(table.map(matchCase), path) ?? [];
}

function matchCase({ children, ...route }: PageRoute): PageRoute {
  return { ...route, caseSensitive: true, ...(children && { children: children.map(matchCase) }) } as PageRoute;
}

function findHandle(matches: { route: PageRoute }[]): PageHandle {
  const handle = matches.findLast(({ route }) => route.handle)?.route.handle;
  if (!handle) throw new Error("A route in client/routes.tsx has no handle");
  return handle;
}
