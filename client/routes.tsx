// The route table: one entry per page.
import type { RouteObject } from "react-router-dom";
import { privacyPath, unknownAddress } from "./addresses.ts";
import { meta } from "./content.ts";
import type { PageHandle } from "./page-data.ts";
import { LandingPage } from "./pages/landing.tsx";
import { NotFoundPage } from "./pages/not-found.tsx";
import { PrivacyPage } from "./pages/privacy.tsx";

/** A route of React Router; the innermost matched route with a handle describes the page. */
export type PageRoute = RouteObject & { handle?: PageHandle };

export const routes: PageRoute[] = [
  {
    path: "/",
    element: <LandingPage />,
    handle: { status: 200, head: { ...meta.landing, unlisted: false }, hydration: "near-form" },
  },
  {
    path: privacyPath,
    element: <PrivacyPage />,
    handle: { status: 200, head: { ...meta.privacy, unlisted: false }, hydration: "never" },
  },
  {
    path: "*",
    element: <NotFoundPage />,
    handle: { status: 404, head: { ...meta.notFound, unlisted: true }, hydration: "after-load" },
  },
];

/** Addresses that the server renders once, at its start. It renders every other page for each request. */
export const prerenderedAddresses = ["/", "/?joined", privacyPath, unknownAddress];
