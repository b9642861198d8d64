// The pages as responses: rendered and compressed once if they are the same for everybody, and the Cache-Control of all pages.
import type * as EntryServer from "../../client/entry-server.tsx";
import type { PageId } from "../../client/entry-server.tsx";
import type { FormFailure } from "../../client/shared/landing-state.ts";
import type { PageSettings } from "../../client/shared/site-settings.ts";
import { cacheResponse, compress, noStore, type CachedResponse } from "../http/cached-response.ts";

export type { PageId };

/** The headers for each way of caching that a handle names. */
const cachings = {
  /** Browsers revalidate the page at each visit; a CDN keeps it for a minute. */
  shared: {
    "Cache-Control": "public, max-age=0, s-maxage=60, no-transform",
    // For CDNs that implement RFC 9213: with s-maxage, they may not serve a stale copy, even while this server is down.
    "CDN-Cache-Control": "max-age=60, stale-while-revalidate=60, stale-if-error=86400, no-transform",
  },
  /** During a deployment, a path that this replica does not know may be a file of a newer one. */
  revalidated: { "Cache-Control": "public, max-age=0, must-revalidate, no-transform" },
  none: noStore,
};

/** What renders the pages: the build, or in development the sources with their latest edits. */
interface Rendering extends Pick<typeof EntryServer, "findPage" | "findState" | "prerenderedIds" | "renderPage"> {
  toDocument: (page: EntryServer.RenderedPage) => string | Promise<string>;
}

export type Pages = Awaited<ReturnType<typeof createPages>>;

/**
 * @param isBuilt false in development, where no page is kept.
 * @throws whatever a component throws: a build that cannot render one of its prerendered pages does not start.
 */
export async function createPages(load: () => Promise<Rendering>, settings: PageSettings, isBuilt: boolean) {
  const built = isBuilt ? await load() : undefined;
  /** The pages that are the same for everybody: rendered once, at the start or for the first request. */
  const kept = new Map<string, Promise<CachedResponse>>();
  /** Those of the start, by the name of a state or the path. */
  const prerendered = new Map<string, CachedResponse>();

  /** @param isKept whether the page is sent many times, so that compressing it pays. */
  async function render(id: PageId, isKept: boolean, failure?: FormFailure) {
    const { renderPage, toDocument } = await load();
    const page = await renderPage(id, settings, failure);
    const html = await toDocument(page);
    const identity = Buffer.from(html);
    const bodies = isKept ? await compress(identity) : { identity };
    const caching = cachings[page.caching ?? "none"];
    return cacheResponse(bodies, page.status, { "Content-Type": "text/html; charset=utf-8", ...caching });
  }

  /** Returns a page, or the page with the failure of a form post. With typed values, it is one person's, and is not kept. */
  function getPage(id: PageId, failure?: FormFailure): Promise<CachedResponse> {
    if (!built || failure?.values) return render(id, false, failure);
    const key = `${id} ${failure?.status} ${failure?.wait}`;
    const page = kept.get(key) ?? render(id, true, failure);
    kept.set(key, page);
    page.catch(() => kept.delete(key)); // The next request renders it again.
    return page;
  }

  const prerender = async (id: PageId) => prerendered.set(id, await getPage(id));
  if (built) await Promise.all(built.prerenderedIds.map(prerender));
  return {
    /** With the latest edit of the routes, in development. */
    findPage: async (path: string, query: string) => (await load()).findPage(path, query),
    /** Looks the path up, because React Router takes as long as the rest of the response. */
    findPrerendered: (path: string, query: string) => prerendered.get(built?.findState(path, query) ?? path),
    errorPage: () => getPage("failed"),
    getPage,
  };
}
