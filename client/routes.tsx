// The routes, each with its path in one spelling, and the states of their pages.
import type { ReactNode } from "react";
import type { RouteObject } from "react-router-dom";
import {
  confirmPath,
  joinedParam,
  leavePath,
  privacyPath,
  tokenParam,
  tokenPattern,
  undoneParam,
  undoParam,
  type PagePath,
} from "./shared/paths.ts";
import type { StateName } from "./shared/landing-state.ts";
import { closedList, errorPage, linkPages, meta, notFound, product, type LinkPageCopy } from "./shared/content.ts";
import { LandingPage } from "./pages/landing.tsx";
import { LinkPage } from "./pages/link.tsx";
import { Message } from "./pages/message.tsx";
import { PrivacyPage } from "./pages/privacy.tsx";

/** What a page is besides its element. */
export interface PageHandle {
  /** 200 by default. */
  status?: number;
  title: string;
  description: string;
  /** The description while the list is closed, which must not ask visitors to join. */
  closedDescription?: string;
  /** The stylesheet: styles.css or other-pages.css. */
  sheet: "landing" | "other";
  /** How other caches may keep the page. By default none may, because its URL may have a token. */
  caching?: "shared" | "revalidated" | undefined;
  /** Whether search engines may list it. Another page has noindex, and no canonical URL. */
  listed?: boolean;
  /** The title of the social card. A page without one has no card. */
  card?: string;
  /** Rendered at the start. Another page is rendered at its first request, so that the start does not wait for it. */
  prerendered?: boolean;
  /** The browser reports its views. */
  countsViews?: boolean;
}

const landing = {
  ...meta.landing,
  closedDescription: closedList.description,
  sheet: "landing",
  card: meta.landing.title,
} as const;
const joined = { ...landing, ...meta.joined };

/** A page of the links in mails. */
const linkHandle = ({ heading, text }: LinkPageCopy): PageHandle => ({
  title: `${heading} – ${product.name}`,
  description: text,
  sheet: "other",
});

interface Page {
  element: ReactNode;
  handle: PageHandle;
}

/** The pages by their path, which paths.ts lists. */
export const pages: Record<PagePath, Page> = {
  "/": {
    element: <LandingPage />,
    handle: { ...landing, caching: "shared", listed: true, prerendered: true, countsViews: true },
  },
  [privacyPath]: {
    element: <PrivacyPage />,
    handle: {
      ...meta.privacy,
      card: meta.privacy.title,
      sheet: "other",
      caching: "shared",
      listed: true,
      prerendered: true,
    },
  },
  // Without a token: a link that a mail program cut.
  [confirmPath]: { element: <LinkPage />, handle: linkHandle(linkPages.dead) },
  [leavePath]: { element: <LinkPage />, handle: linkHandle(linkPages.dead) },
  // The entry script logs the unknown path in the browser's console.
  "*": {
    element: <Message name="not-found" {...notFound} />,
    handle: { status: 404, ...meta.notFound, sheet: "other", caching: "revalidated", prerendered: true },
  },
};

/** The page of an error. */
export const failed = {
  // The link repeats the request for the page.
  errorElement: <Message name="failed" {...errorPage} href="" />,
  handle: { status: 500, ...meta.error, sheet: "other" } satisfies PageHandle,
};

export const routes: RouteObject[] = [
  {
    id: "failed",
    errorElement: failed.errorElement,
    children: Object.entries(pages).map(([path, { element }]) => ({ path, element, caseSensitive: true })),
  },
];

interface State {
  /** The path of its page, whose element reads the state. */
  path: PagePath;
  /** The pattern of its query. A state without one is the response to a POST. */
  query?: RegExp;
  /** Replaces that of the route. */
  handle: PageHandle;
}

const token = tokenPattern(tokenParam);
/** Matches a query with the parameter. URLSearchParams would spend the time of 40 requests on a query of 16 KB. */
const paramPattern = (name: string) => new RegExp(`(?:^|&)${name}(?:[=&]|$)`);

/** The first state whose query matches counts. */
export const states: Record<StateName, State> = {
  undoable: { path: "/", query: tokenPattern(undoParam), handle: joined },
  joined: { path: "/", query: paramPattern(joinedParam), handle: { ...joined, prerendered: true } },
  undone: { path: "/", query: paramPattern(undoneParam), handle: landing },
  confirm: { path: confirmPath, query: token, handle: linkHandle(linkPages.confirm) },
  confirmed: { path: confirmPath, handle: linkHandle(linkPages.confirmed) },
  leave: { path: leavePath, query: token, handle: linkHandle(linkPages.leave) },
  left: { path: leavePath, handle: linkHandle(linkPages.left) },
};
