// Puts a rendered page into the HTML document that Vite made of client/index.html.
import type { RenderedPage } from "../../client/entry-server.tsx";

/** The template is cut at its markers once; String.replace would misread the "$" of a price list. */
export function createDocument(template: string): (page: RenderedPage) => string {
  const [start, middle, end] = template.split(/<!--head-->|<!--page-->/);
  if (start === undefined || middle === undefined || end === undefined) {
    throw new Error("client/index.html lacks <!--head--> or <!--page-->");
  }
  return (page) => start + head(page) + middle + root(page) + end;
}

function head({ head: { title, description, unlisted } }: RenderedPage): string {
  return [
    `<title>${escapeHtml(title)}</title>`,
    `<meta name="description" content="${escapeHtml(description)}">`,
    ...(unlisted ? ['<meta name="robots" content="noindex">'] : []),
  ].join("\n    ");
}

function root({ body, address, hydration }: RenderedPage): string {
  return `<div id="root" data-address="${escapeHtml(address)}" data-hydration="${hydration}">${body}</div>`;
}

function escapeHtml(text: string): string {
  const entities: Record<string, string> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
  };
  return text.replace(/[&<>"]/g, (character) => entities[character] as string);
}
