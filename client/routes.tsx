// The table of pages: one row for each page and state. Its key is the page's id everywhere.
import type { ReactNode } from "react";
import {
  confirmPath,
  joinedParam,
  leavePath,
  privacyPath,
  tokenParam,
  tokenPattern,
  undoneParam,
  undoParam,
} from "./shared/paths.ts";
import { closedList, errorPage, linkPages, meta, notFound, product } from "./shared/content.ts";
import { LandingPage } from "./pages/landing.tsx";
import { LinkPage } from "./pages/link.tsx";
import { Message, type PlantName } from "./pages/message.tsx";
import { PrivacyPage } from "./pages/privacy.tsx";

export interface Page {
  /** The path of its URL. A page without one is the response to a POST, to an unknown path or to a fault. */
  path?: string;
  /** The pattern of its query. The first row of a path that matches counts. */
  query?: RegExp;
  element: ReactNode;
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
  /** Listed in the sitemap. Another page has noindex, and no canonical URL or structured data. */
  listed?: boolean;
  /** The title of the social card. A page without one has no card. */
  card?: string;
  /** Rendered at the start. Another page is rendered at its first request, so that the start does not wait for it. */
  prerendered?: boolean;
  /** The browser reports its views. */
  countsViews?: boolean;
}

const card = meta.landing.title;
const landing = {
  path: "/",
  ...meta.landing,
  closedDescription: closedList.description,
  sheet: "landing",
  card,
} as const;
const joined = { ...landing, ...meta.joined };

/** A page of the links in the confirmation mail. */
function linkPage(name: keyof typeof linkPages, plant: PlantName) {
  const copy = linkPages[name];
  const element = <LinkPage {...copy} plant={plant} />;
  return { title: `${copy.heading} – ${product.name}`, description: copy.text, sheet: "other", element } as const;
}

const token = tokenPattern(tokenParam);
const expired = linkPage("expired", "wilted");
/** Matches a query with the parameter. URLSearchParams would spend the time of 40 requests on a query of 16 KB. */
const paramPattern = (name: string) => new RegExp(`(?:^|&)${name}(?:[=&]|$)`);

export const pages = {
  undoable: { ...joined, query: tokenPattern(undoParam), element: <LandingPage state="undoable" /> },
  joined: { ...joined, query: paramPattern(joinedParam), element: <LandingPage state="joined" />, prerendered: true },
  undone: { ...landing, query: paramPattern(undoneParam), element: <LandingPage state="undone" /> },
  landing: {
    ...landing,
    element: <LandingPage state="form" />,
    caching: "shared",
    listed: true,
    prerendered: true,
    countsViews: true,
  },
  privacy: {
    path: privacyPath,
    element: <PrivacyPage />,
    ...meta.privacy,
    card: meta.privacy.title,
    sheet: "other",
    caching: "shared",
    listed: true,
    prerendered: true,
  },
  confirm: { path: confirmPath, query: token, ...linkPage("confirm", "seedling") },
  confirmed: linkPage("confirmed", "grown"),
  /** After the row with a token: a link that a mail program cut. */
  expired: { path: confirmPath, ...expired },
  leave: { path: leavePath, query: token, ...linkPage("leave", "grown") },
  unreadable: { path: leavePath, ...expired },
  left: linkPage("left", "wilted"),
  notFound: {
    // The entry script logs the unknown path in the browser's console.
    element: <Message name="not-found" {...notFound} />,
    status: 404,
    ...meta.notFound,
    sheet: "other",
    caching: "revalidated",
    prerendered: true,
  },
  failed: {
    // The link repeats the request for the page.
    element: <Message name="failed" {...errorPage} href="" />,
    status: 500,
    ...meta.error,
    sheet: "other",
  },
} satisfies Record<string, Page>;

export type PageId = keyof typeof pages;
