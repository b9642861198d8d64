// The page cache: pages that are the same for everybody, rendered and compressed once, and the Cache-Control of all pages.
import { cacheResponse, compress, type Cache, type CachedResponse } from "../http/cached-response.ts";
import type { RenderedDocument, Renderer } from "./renderer.ts";

/** Browsers revalidate a page at each visit; a CDN keeps it for a minute. */
const pageCaching = {
  "Cache-Control": "public, max-age=0, s-maxage=60",
  // For a CDN that implements RFC 9213: s-maxage forbids it to use a stale copy, also while this server is down.
  "CDN-Cache-Control": "max-age=60, stale-while-revalidate=60, stale-if-error=86400",
};
/** During a deployment, an address that this replica does not know may be a file of a newer one. */
const notFoundCaching = { "Cache-Control": "public, max-age=0, must-revalidate" };
const noStore = { "Cache-Control": "no-store" };

const htmlType = { "Content-Type": "text/html; charset=utf-8" };

export type FindPage = (address: string) => Promise<CachedResponse>;

export interface PageCache {
  /** By the address that the renderer returns for a request. */
  prerendered: Cache;
  /** Returns a prerendered page, and renders any other one: once if it is the same for everybody, otherwise for each request. */
  findPage: FindPage;
  errorPage: CachedResponse;
  /** Renders the cached pages again. @throws whatever a component throws; the old pages then stay. */
  refresh: () => Promise<void>;
}

/**
 * @param addresses of the pages to render now.
 * @param onDemand addresses of the pages to render at their first request.
 * @throws whatever a component throws: a build that cannot render one of these pages does not start.
 */
export async function createPageCache(renderer: Renderer, addresses: string[], onDemand: string[]): Promise<PageCache> {
  const prerendered = new Map(await prerender(renderer, addresses));
  const errorPage = await cacheErrorPage(renderer);
  const onDemandPages = new Map<string, Promise<CachedResponse>>();

  /** No other cache may keep a page that is not prerendered: the address of a request may have a token. */
  async function findPage(address: string): Promise<CachedResponse> {
    const found = prerendered.get(address) ?? onDemandPages.get(address);
    if (found) return found;
    const rendered = renderer.page(address);
    if (!onDemand.includes(address)) {
      const { status, html } = await rendered;
      return cacheResponse({ identity: Buffer.from(html) }, status, { ...htmlType, ...noStore });
    }
    const page = rendered.then((result) => cachePage(result, noStore));
    onDemandPages.set(address, page);
    page.catch(() => onDemandPages.delete(address));
    return page;
  }

  async function refresh(): Promise<void> {
    const [pages, error] = await Promise.all([prerender(renderer, addresses), cacheErrorPage(renderer)]);
    for (const [address, page] of pages) prerendered.set(address, page);
    Object.assign(errorPage, error);
    onDemandPages.clear();
  }

  return { prerendered, errorPage, findPage, refresh };
}

function prerender(renderer: Renderer, addresses: string[]) {
  const pages = addresses.map(async (address) => {
    const page = await renderer.page(address);
    const caching = page.status === 200 ? pageCaching : notFoundCaching;
    // A query is the state of one visitor's sign-up.
    return [address, await cachePage(page, address.includes("?") ? noStore : caching)] as const;
  });
  return Promise.all(pages);
}

/** @param caching by default for a response that nobody may keep. */
export async function cachePage(
  { status, html }: RenderedDocument,
  caching: Record<string, string> = {},
): Promise<CachedResponse> {
  return cacheResponse(await compress(Buffer.from(html)), status, { ...htmlType, ...caching });
}

/** Returns the page for a fault. It is not compressed: clients rarely get it, and the start would wait for it. */
async function cacheErrorPage(renderer: Renderer): Promise<CachedResponse> {
  const { status, html } = await renderer.errorPage();
  return cacheResponse({ identity: Buffer.from(html) }, status, htmlType);
}
