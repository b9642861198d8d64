// What search engines ask for: robots.txt and the sitemap.
import { storeResponse, type FindStored, type StoredResponse } from "../views/stored-response.ts";
import type { PublicSite } from "../views/head.ts";

const cacheControl = "public, max-age=3600";

export function storeCrawlerFiles({ origin, allowIndexing }: PublicSite): FindStored {
  const rules = allowIndexing ? `Allow: /\n\nSitemap: ${origin}/sitemap.xml` : "Disallow: /";
  const sitemap = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
  <url><loc>${origin}/</loc></url>
</urlset>
`;
  const files: Record<string, StoredResponse> = {
    "/robots.txt": store(`User-agent: *\n${rules}\n`, "text/plain; charset=utf-8"),
    "/sitemap.xml": store(sitemap, "application/xml; charset=utf-8"),
  };
  return (path) => (Object.hasOwn(files, path) ? files[path] : undefined);
}

function store(text: string, mediaType: string): StoredResponse {
  return storeResponse({ identity: Buffer.from(text) }, 200, {
    "Content-Type": mediaType,
    "Cache-Control": cacheControl,
  });
}
