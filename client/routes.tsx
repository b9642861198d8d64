// The route table: the path, status and head of each page. The last route is the 404 of an unknown path.
import type { RouteObject } from "react-router-dom";
import {
  confirmedAddress,
  confirmPath,
  errorPath,
  expiredAddress,
  landingAddress,
  leavePath,
  leftAddress,
  privacyPath,
  unknownAddress,
} from "./shared/addresses.ts";
import { meta } from "./shared/content.ts";
import type { PageHandle } from "./shared/page-data.ts";
import { ErrorPage } from "./pages/error.tsx";
import { LandingPage } from "./pages/landing.tsx";
import { LinkPage } from "./pages/link.tsx";
import { NotFoundPage } from "./pages/not-found.tsx";
import { PrivacyPage } from "./pages/privacy.tsx";

/** A route of React Router, whose handle describes the page. */
export type PageRoute = RouteObject & { path: string; handle: PageHandle };

export const routes: PageRoute[] = [
  {
    path: "/",
    element: <LandingPage />,
    handle: { status: 200, head: { ...meta.landing, unlisted: false } },
  },
  {
    path: privacyPath,
    element: <PrivacyPage />,
    handle: { status: 200, head: { ...meta.privacy, unlisted: false } },
  },
  {
    path: confirmPath,
    element: <LinkPage />,
    handle: { status: 200, head: { ...meta.confirm, unlisted: true } },
  },
  {
    path: leavePath,
    element: <LinkPage />,
    handle: { status: 200, head: { ...meta.leave, unlisted: true } },
  },
  {
    path: errorPath,
    element: <ErrorPage />,
    handle: { status: 500, head: { ...meta.error, unlisted: true } },
  },
  {
    path: "*",
    element: <NotFoundPage />,
    handle: { status: 404, head: { ...meta.notFound, unlisted: true } },
  },
];

/** Paths that the server renders once, at its start. A page in neither list is rendered for each request. */
export const prerenderedAddresses = ["/", landingAddress("joined"), privacyPath, unknownAddress];

/** Paths that the server renders once, at the first request, so that the start does not wait for them. */
export const onDemandAddresses = [
  landingAddress("undoable"),
  landingAddress("undone"),
  confirmPath,
  confirmedAddress,
  expiredAddress,
  leavePath,
  leftAddress,
];

/** Paths of the pages that search engines may list, for the sitemap. */
export const listedAddresses = routes.filter(({ handle }) => !handle.head.unlisted).map(({ path }) => path);
