// The route table: the landing page, and the 404 page for every other path.
import type { RouteObject } from "react-router-dom";
import { unknownAddress } from "./addresses.ts";
import { meta } from "./content.ts";
import type { Hydration, PageHead } from "./page-data.ts";
import { LandingPage } from "./pages/landing.tsx";
import { NotFoundPage } from "./pages/not-found.tsx";

interface RouteHandle {
  status: number;
  head: PageHead;
  hydration: Hydration;
}

export type Route = RouteObject & { path: string; handle: RouteHandle };

export const routes: Route[] = [
  {
    path: "/",
    element: <LandingPage />,
    handle: {
      status: 200,
      head: { ...meta.landing, unlisted: false },
      hydration: "near-form",
    },
  },
  {
    path: "*",
    element: <NotFoundPage />,
    handle: {
      status: 404,
      head: { ...meta.notFound, unlisted: true },
      hydration: "after-load",
    },
  },
];

/** Every address with a page of its own. */
export const pageAddresses = [
  ...routes.map(({ path }) => path).filter((path) => path !== "*"),
  "/?joined",
  unknownAddress,
];

/**
 * The address that stands for every address with the same page, so that each page is rendered once. Exact, where
 * React Router's own matching would take "//" for "/" and warn of what it can't decode.
 */
export function pageAddress(path: string, query: string): string {
  // Not URLSearchParams: a query of 16 KB would cost as much as 40 requests.
  const joined = /(?:^|&)joined(?:[=&]|$)/.test(query);
  const candidates = joined ? [`${path}?joined`, path] : [path];
  return candidates.find((address) => pageAddresses.includes(address)) ?? unknownAddress;
}

export function routeOf(address: string): Route {
  const path = address.split("?", 1)[0];
  return (routes.find((route) => route.path === path) ?? routes.at(-1)) as Route;
}
