// The pages as responses: rendered and compressed once if they are the same for everybody, and the Cache-Control of all pages.
import type * as EntryServer from "../../client/entry-server.tsx";
import { errorPath, unknownPath } from "../../client/shared/paths.ts";
import type { FormFailure } from "../../client/shared/page-data.ts";
import type { PageSettings } from "../../client/shared/site-settings.ts";
import { cacheResponse, compress, type Cache, type CachedResponse } from "../http/cached-response.ts";

/** Browsers revalidate a page at each visit; a CDN keeps it for a minute. */
const pageCaching = {
  "Cache-Control": "public, max-age=0, s-maxage=60",
  // For a CDN that implements RFC 9213: s-maxage forbids it to use a stale copy, also while this server is down.
  "CDN-Cache-Control": "max-age=60, stale-while-revalidate=60, stale-if-error=86400",
};
/** During a deployment, a path that this replica does not know may be a file of a newer one. */
const notFoundCaching = { "Cache-Control": "public, max-age=0, must-revalidate" };
const noStore = { "Cache-Control": "no-store" };

const htmlType = { "Content-Type": "text/html; charset=utf-8" };

/** What renders the pages: the build, or in development the sources with their latest edits. */
interface Rendering extends Pick<typeof EntryServer, "pagePath" | "renderPage"> {
  /** Returns the HTML document around a page. */
  toDocument: (page: EntryServer.RenderedPage) => string | Promise<string>;
}

export interface Pages {
  /** Returns the path to render for a request; unknownPath if no route matches. */
  pagePath: (path: string, query: string) => Promise<string>;
  /**
   * Returns the page with this path, or with the failure of a form post. A page that is the same for everybody is rendered once.
   * @throws whatever a component throws.
   */
  renderPage: (path: string, failure?: FormFailure) => Promise<CachedResponse>;
  /** Renders the cached pages again. @throws whatever a component throws. */
  refresh: () => Promise<void>;
  /** The pages that are rendered at the start, by the path that pagePath returns. */
  prerendered: Cache;
  /** Returns the page for a fault, which was rendered before there is one. */
  errorPage: () => CachedResponse;
}

/**
 * @param paths of the pages to render now, or undefined in development, where no page is kept.
 * @throws whatever a component throws: a build that cannot render one of these pages does not start.
 */
export async function createPages(
  load: () => Promise<Rendering>,
  settings: () => PageSettings,
  paths?: string[],
): Promise<Pages> {
  const prerendered = new Map<string, CachedResponse>();
  const onDemand = new Map<string, Promise<CachedResponse>>();
  let errorPage: CachedResponse;

  /** @param caching of a page that is the same for everybody, which is compressed once. */
  async function render(path: string, failure?: FormFailure, caching?: Record<string, string>) {
    const { renderPage, toDocument } = await load();
    const page = renderPage(path, settings(), failure);
    const html = await toDocument(page);
    const identity = Buffer.from(html);
    const bodies = caching ? await compress(identity) : { identity };
    // No other cache may keep a page that is not prerendered: the URL of a request may have a token.
    return cacheResponse(bodies, page.status, { ...htmlType, ...noStore, ...caching });
  }

  /** Renders a page at its first request. */
  function renderOnce(path: string, failure?: FormFailure): Promise<CachedResponse> {
    const key = `${path} ${failure?.status} ${failure?.wait}`;
    const page = onDemand.get(key) ?? render(path, failure, noStore);
    onDemand.set(key, page);
    page.catch(() => onDemand.delete(key));
    return page;
  }

  async function refresh(): Promise<void> {
    onDemand.clear();
    const prerender = async (path: string) => prerendered.set(path, await render(path, undefined, cachingOf(path)));
    await Promise.all(paths?.map(prerender) ?? []);
    // Not compressed: clients rarely get it, and the start would wait for it.
    errorPage = await render(errorPath);
  }

  await refresh();
  return {
    prerendered,
    errorPage: () => errorPage,
    pagePath: async (path, query) => (await load()).pagePath(path, query),
    renderPage: async (path, failure) => {
      if (!paths || failure?.values) return render(path, failure);
      return (failure ? undefined : prerendered.get(path)) ?? renderOnce(path, failure);
    },
    refresh,
  };
}

function cachingOf(path: string): Record<string, string> {
  if (path.includes("?")) return noStore; // The state of one visitor's sign-up.
  return path === unknownPath ? notFoundCaching : pageCaching;
}
