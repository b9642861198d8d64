// Server rendering: finds the page for a request and renders it to HTML. Vite loads this file in development; the build bundles it.
import { renderToString } from "react-dom/server";
import {
  createStaticHandler,
  createStaticRouter,
  matchRoutes,
  StaticRouterProvider,
  type StaticHandlerContext,
} from "react-router-dom";
import { meta } from "./shared/content.ts";
import { FormFailureSummary } from "./early-access/form-failure-summary.tsx";
import { FormFailureContext, PageContext, type FormFailure } from "./shared/landing-state.ts";
import { routes, states, type PageHandle, type PageId, type StateName } from "./routes.tsx";
import { SettingsContext, type PageSettings } from "./shared/site-settings.ts";

export type { PageId };

/** A page's handle, with what the settings and a failed form post change. */
export interface RenderedPage extends PageHandle {
  id: PageId;
  path: string;
  status: number;
  body: string;
}

const handler = createStaticHandler(routes);
const stateNames = Object.keys(states) as StateName[];
const handles = new Map<PageId, PageHandle>([
  ...[...routes, ...(routes[0]?.children ?? [])].map(
    ({ id, path, handle }) => [path ?? id, handle] as [PageId, PageHandle],
  ),
  ...stateNames.map((name) => [name, states[name].handle] as [PageId, PageHandle]),
]);
export const prerenderedIds = [...handles].flatMap(([id, handle]) => (handle.prerendered ? id : []));

/** Returns the state of the page at the path that the query names. */
export function findState(path: string, query: string): StateName | undefined {
  return stateNames.find((name) => {
    const state: { path: string; query?: RegExp } = states[name];
    return state.path === path && state.query?.test(query);
  });
}

/** Returns the page of a URL. Each has one spelling: React Router would also take "/privacy/" and "/%70rivacy" for "/privacy". */
export function findPage(path: string, query: string): PageId {
  const route = path.includes("%") ? undefined : matchRoutes(routes, path)?.at(-1)?.route.path;
  return findState(path, query) ?? (route === path ? (route as PageId) : "*");
}

/** @throws whatever a component throws. */
export async function renderPage(id: PageId, settings: PageSettings, failure?: FormFailure): Promise<RenderedPage> {
  const path = id in states ? states[id as StateName].path : id.startsWith("/") ? id : "/*";
  const context = (await handler.query(new Request(`http://localhost${path}`))) as StaticHandlerContext;
  if (id === "failed") context.errors = { failed: new Error() }; // On a server, React renders no error boundary.
  const shownFailure = failure && { ...failure, summary: <FormFailureSummary failure={failure} /> };
  const body = renderToString(
    <SettingsContext value={settings}>
      <FormFailureContext value={shownFailure}>
        <PageContext value={id}>
          <StaticRouterProvider
            router={createStaticRouter(handler.dataRoutes, context)}
            context={context}
            hydrate={false}
          />
        </PageContext>
      </FormFailureContext>
    </SettingsContext>,
  );
  const handle = handles.get(id) as PageHandle;
  const description = (settings.closed && handle.closedDescription) || handle.description;
  const rendered = { status: 200, ...handle, description, id, path, body };
  if (!failure) return rendered;
  const { status } = failure;
  return {
    ...rendered,
    status,
    title: meta.errorPrefix + handle.title,
    caching: undefined,
    listed: false,
    countsViews: false,
  };
}
