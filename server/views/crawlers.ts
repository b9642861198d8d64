// Files for search engines: robots.txt and the sitemap.
import { cacheResponse, type Cache } from "../http/cached-response.ts";
import { escapeHtml, type PublicSite } from "./head.ts";

/** @param paths of the pages in the sitemap. */
export function crawlerFiles({ origin, allowIndexing }: PublicSite, paths: string[]): Cache {
  const rules = allowIndexing ? `Allow: /\n\nSitemap: ${origin}/sitemap.xml` : "Disallow: /";
  const sitemap = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${paths.map((path) => `  <url><loc>${escapeHtml(origin + path)}</loc></url>`).join("\n")}
</urlset>
`;
  return new Map([
    ["/robots.txt", cacheText(`User-agent: *\n${rules}\n`, "text/plain; charset=utf-8")],
    ["/sitemap.xml", cacheText(sitemap, "application/xml; charset=utf-8")],
  ]);
}

function cacheText(text: string, mediaType: string) {
  const headers = { "Content-Type": mediaType, "Cache-Control": "public, max-age=3600" };
  return cacheResponse({ identity: Buffer.from(text) }, 200, headers);
}
