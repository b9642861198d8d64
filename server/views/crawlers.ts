// Files for programs that visit the site: robots.txt, the sitemap and security.txt.
import { cacheResponse, type Cache } from "../http/cached-response.ts";
import { escapeHtml, type PublicSite } from "./document.ts";

const plain = "text/plain; charset=utf-8";

/** @param paths of the pages in the sitemap. */
export function crawlerFiles({ origin, allowIndexing, settings }: PublicSite, paths: string[]): Cache {
  const rules = allowIndexing ? `Allow: /\n\nSitemap: ${origin}/sitemap.xml` : "Disallow: /";
  const sitemap = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${paths.map((path) => `  <url><loc>${escapeHtml(origin + path)}</loc></url>`).join("\n")}
</urlset>
`;
  const files = new Map([
    ["/robots.txt", cacheText(`User-agent: *\n${rules}\n`, plain)],
    ["/sitemap.xml", cacheText(sitemap, "application/xml; charset=utf-8")],
  ]);
  const { contact } = settings();
  if (contact) files.set("/.well-known/security.txt", cacheText(securityText(origin, contact), plain));
  return files;
}

/** In milliseconds: RFC 9116 recommends less than a year. The time begins with the start of the server. */
const securityTextLifetime = 360 * 24 * 60 * 60 * 1000;

function securityText(origin: string, contact: string): string {
  const expires = new Date(Date.now() + securityTextLifetime).toISOString();
  return `Contact: mailto:${contact}\nExpires: ${expires}\nPreferred-Languages: en\nCanonical: ${origin}/.well-known/security.txt\n`;
}

function cacheText(text: string, mediaType: string) {
  const headers = { "Content-Type": mediaType, "Cache-Control": "public, max-age=3600" };
  return cacheResponse({ identity: Buffer.from(text) }, 200, headers);
}
