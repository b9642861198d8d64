// What search engines ask for: robots.txt and the sitemap; and the header that keeps a staging site out of them.
import type { RequestHandler } from "express";
import type { PublicSite } from "../views/head.ts";

/** In seconds. */
const maxAge = 3600;

export function robots({ origin, allowIndexing }: PublicSite): RequestHandler {
  const rules = allowIndexing ? `Allow: /\n\nSitemap: ${origin}/sitemap.xml` : "Disallow: /";
  return function sendRobots(_req, res) {
    res.set("Cache-Control", `public, max-age=${maxAge}`).type("txt").send(`User-agent: *\n${rules}\n`);
  };
}

export function sitemap({ origin }: PublicSite): RequestHandler {
  const xml = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
  <url><loc>${origin}/</loc></url>
</urlset>
`;
  return function sendSitemap(_req, res) {
    res.set("Cache-Control", `public, max-age=${maxAge}`).type("xml").send(xml);
  };
}

export function indexing({ allowIndexing }: PublicSite): RequestHandler {
  return function keepOut(_req, res, next) {
    if (!allowIndexing) res.setHeader("X-Robots-Tag", "noindex");
    next();
  };
}
