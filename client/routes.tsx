// The route table: the path, status and head of each page. The last route is the 404 of an unknown path.
import type { RouteObject } from "react-router-dom";
import { confirmPath, errorPath, landingPath, leavePath, privacyPath, unknownPath } from "./shared/paths.ts";
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

/** Paths that the server renders at its start. Another page is rendered at its first request, so that the start does not wait for it. */
export const prerenderedPaths = ["/", landingPath("joined"), privacyPath, unknownPath];

/** Paths of the pages that search engines may list, for the sitemap. */
export const listedPaths = routes.filter(({ handle }) => !handle.head.unlisted).map(({ path }) => path);
