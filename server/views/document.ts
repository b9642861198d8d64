// Puts a rendered page into the HTML document that Vite made of client/index.html.
import type { RenderedPage } from "../../client/entry-server.tsx";
import { escapeHtml, renderHead, type PublicSite } from "./head.ts";

/** The template is cut at its markers once; String.replace would misread the "$" of a price list. */
export function createDocument(template: string, site: PublicSite): (page: RenderedPage) => string {
  const [start, middle, end] = withoutVoidSlashes(template).split(/<!--head-->|<!--page-->/);
  if (start === undefined || middle === undefined || end === undefined) {
    throw new Error("client/index.html lacks <!--head--> or <!--page-->");
  }
  return (page) => start + renderHead(page.head, site) + middle + root(page) + end;
}

function root({ body, address, hydration }: RenderedPage): string {
  const attributes = `data-address="${escapeHtml(address)}" data-hydration="${hydration}"`;
  return `<div id="root" ${attributes}>${withoutVoidSlashes(body)}</div>`;
}

/** React ends void elements with "/>", of which HTML checkers remark that it means nothing; in text ">" is escaped. */
function withoutVoidSlashes(html: string): string {
  return html.replaceAll(/ ?\/>/g, ">");
}
