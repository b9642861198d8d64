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
  return (page) => [start, renderHead(page, site), middle, root(page), end].join("");
}

function root({ id, body, countsViews }: RenderedPage): Html {
  const beacon = countsViews ? " data-beacon" : "";
  // React has escaped the body.
  return html`<div id="root" data-page="${id}"${beacon}>${new Html(body)}</div>`;
}

export interface PublicSite {
  /** Without a trailing slash. */
  origin: string;
  allowIndexing: boolean;
  settings: PageSettings;
}

function renderHead(page: RenderedPage, { origin }: PublicSite): string {
  const lines = [html`<title>${page.title}</title>`, named("description", page.description)];
  if (!page.listed) lines.push(named("robots", "noindex"));
  if (page.listed) lines.push(html`<link rel="canonical" href="${origin + page.path}">`);
  if (page.card) lines.push(...socialCard(page, origin));
  return lines.join("\n    ");
}

function socialCard({ card, description, path }: RenderedPage, origin: string): Html[] {
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

const named = (name: string, content: string) => html`<meta name="${name}" content="${content}">`;
const property = (name: string, content: string) => html`<meta property="${name}" content="${content}">`;

/** HTML in which every text is escaped. */
export class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

type Value = string | Html | readonly Value[];

/** A template tag: escapes every value but HTML, also in lists, and inserts nothing between the items of a list. */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  return new Html(parts.map((part, index) => part + escapeValue(values[index] ?? "")).join(""));
}

function escapeValue(value: Value): string {
  if (value instanceof Html) return value.toString();
  return typeof value === "string" ? escapeHtml(value) : value.map(escapeValue).join("");
}

function escapeHtml(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (character) => entities[character] as string);
}
