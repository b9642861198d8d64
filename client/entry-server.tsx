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
import {
  FormFailureContext,
  isKeyOf,
  PageContext,
  type FormFailure,
  type PageId,
  type StateName,
} from "./shared/landing-state.ts";
import { failed, pages, routes, states, type PageHandle } from "./routes.tsx";
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
const keysOf = <T extends object>(object: T) => Object.keys(object).filter((key) => isKeyOf(object, key));
const stateNames = keysOf(states);
const all: Record<PageId, { handle: PageHandle }> = { ...pages, ...states, failed };

export const prerenderedIds = keysOf(all).filter((id) => all[id].handle.prerendered);

/** Returns the state of the page at the path that the query names. */
export function findState(path: string, query: string): StateName | undefined {
  return stateNames.find((name) => states[name].path === path && states[name].query?.test(query));
}

/**
 * Returns the page of a URL. Each has one spelling: React Router would also take "/privacy/" and "/%70rivacy" for "/privacy", and a
 * millisecond of processor time for 15,000 slashes.
 */
export function findPage(path: string, query: string): PageId {
  return findState(path, query) ?? (isKeyOf(pages, path) ? path : "*");
}

/** @throws whatever a component throws. */
export async function renderPage(id: PageId, settings: PageSettings, failure?: FormFailure): Promise<RenderedPage> {
  const path = findPath(id);
  const body = await renderBody(id, path, settings, failure);
  const { handle } = all[id];
  const description = (settings.closed && handle.closedDescription) || handle.description;
  const page = { status: 200, ...handle, description, id, path, body };
  return failure ? { ...page, ...changesOfFailure(handle, failure) } : page;
}

/** Returns the path at which the router finds the page. */
function findPath(id: PageId): string {
  if (isKeyOf(states, id)) return states[id].path;
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
