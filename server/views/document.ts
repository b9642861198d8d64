// The HTML document: the template client/index.html with a rendered page, and the metadata for search engines and shared links.
import type { RenderedPage } from "../../client/entry-server.tsx";
import { meta, product } from "../../client/shared/content.ts";
import type { PageSettings } from "../../client/shared/site-settings.ts";

/** Splits the template at its markers; String.replace would interpret the "$" of a price. */
export function createDocument(template: string, site: PublicSite): (page: RenderedPage) => string {
  const [start, middle, end] = template.split(/<!--head-->|<!--page-->/);
  if (start === undefined || middle === undefined || end === undefined) {
    throw new Error("client/index.html lacks <!--head--> or <!--page-->");
  }
  return (page) => start + renderHead(page, site) + middle + root(page, site) + end;
}

/** client/print.css prints the origin. */
function root({ id, body, countsViews }: RenderedPage, { origin }: PublicSite): string {
  const data = `data-origin="${escapeHtml(origin)}" data-page="${id}"${countsViews ? " data-beacon" : ""}`;
  return `<div id="root" ${data}>${body}</div>`;
}

export interface PublicSite {
  /** Without a trailing slash. */
  origin: string;
  allowIndexing: boolean;
  settings: () => PageSettings;
}

function renderHead(page: RenderedPage, { origin }: PublicSite): string {
  const lines = [`<title>${escapeHtml(page.title)}</title>`, named("description", page.description)];
  if (!page.listed) lines.push(named("robots", "noindex"));
  if (page.listed) lines.push(`<link rel="canonical" href="${escapeHtml(origin + page.path)}">`);
  if (page.card) lines.push(...socialCard(page, origin));
  return lines.join("\n    ");
}

function socialCard({ card, description, path }: RenderedPage, origin: string): string[] {
  return [
    property("og:type", "website"),
    property("og:site_name", product.name),
    property("og:url", origin + path),
    property("og:title", card as string),
    property("og:description", description),
    property("og:image", origin + meta.picturePath),
    property("og:image:width", "1200"),
    property("og:image:height", "630"),
    property("og:image:alt", meta.picture),
    named("twitter:card", "summary_large_image"),
    named("twitter:image:alt", meta.picture),
  ];
}

const named = (name: string, content: string) => `<meta name="${name}" content="${escapeHtml(content)}">`;
const property = (name: string, content: string) => `<meta property="${name}" content="${escapeHtml(content)}">`;

export function escapeHtml(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (character) => entities[character] as string);
}
