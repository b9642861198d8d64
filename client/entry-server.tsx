// Server rendering: finds the page for a request and renders it to HTML. Vite loads this file in development; the build bundles it.
import { renderToString } from "react-dom/server";
import {
  createStaticHandler,
  createStaticRouter,
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
/** By the path of a route, the id of one without a path, or the name of a state. */
const handles = new Map<PageId, PageHandle>();
for (const { id, path, handle } of [...routes, ...(routes[0]?.children ?? [])]) {
  handles.set((path ?? id) as PageId, handle as PageHandle);
}
for (const name of stateNames) handles.set(name, states[name].handle);

export const prerenderedIds = [...handles].flatMap(([id, handle]) => (handle.prerendered ? id : []));

/** Returns the state of the page at the path that the query names. */
export function findState(path: string, query: string): StateName | undefined {
  return stateNames.find((name) => {
    const state: { path: string; query?: RegExp } = states[name];
    return state.path === path && state.query?.test(query);
  });
}

/**
 * Returns the page of a URL. Each has one spelling: React Router would also take "/privacy/" and "/%70rivacy" for "/privacy", and a
 * millisecond of processor time for 15,000 slashes.
 */
export function findPage(path: string, query: string): PageId {
  const isPage = path.startsWith("/") && handles.has(path as PageId);
  return findState(path, query) ?? (isPage ? (path as PageId) : "*");
}

/** @throws whatever a component throws. */
export async function renderPage(id: PageId, settings: PageSettings, failure?: FormFailure): Promise<RenderedPage> {
  const path = findPath(id);
  const body = await renderBody(id, path, settings, failure);
  const handle = handles.get(id) as PageHandle;
  const description = (settings.closed && handle.closedDescription) || handle.description;
  const page = { status: 200, ...handle, description, id, path, body };
  return failure ? { ...page, ...changesOfFailure(handle, failure) } : page;
}

/** Returns the path at which the router finds the page. */
function findPath(id: PageId): string {
  if (id in states) return states[id as StateName].path;
  return id.startsWith("/") ? id : "/*";
}

async function renderBody(id: PageId, path: string, settings: PageSettings, failure?: FormFailure): Promise<string> {
  const context = (await handler.query(new Request(`http://localhost${path}`))) as StaticHandlerContext;
  if (id === "failed") context.errors = { failed: new Error() }; // On a server, React renders no error boundary.
  const shownFailure = failure && { ...failure, summary: <FormFailureSummary failure={failure} /> };
  return renderToString(
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
}

/** The response to a failed form post is neither kept nor listed nor counted. */
function changesOfFailure({ title }: PageHandle, { status }: FormFailure): Partial<RenderedPage> {
  return { status, title: meta.errorPrefix + title, caching: undefined, listed: false, countsViews: false };
}
