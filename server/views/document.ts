// The HTML document: the template client/index.html with a rendered page.
import type { RenderedPage } from "../../client/entry-server.tsx";
import { escapeHtml, renderHead, type PublicSite } from "./head.ts";

/** Splits the template at its markers; String.replace would interpret the "$" of a price. */
export function createDocument(template: string, site: PublicSite): (page: RenderedPage) => string {
  const [start, middle, end] = withoutVoidSlashes(template).split(/<!--head-->|<!--page-->/);
  if (start === undefined || middle === undefined || end === undefined) {
    throw new Error("client/index.html lacks <!--head--> or <!--page-->");
  }
  return (page) => start + renderHead(page.head, page.address, site) + middle + root(page) + end;
}

function root({ status, body, address }: RenderedPage): string {
  const beacon = address === "/" && status === 200 ? " data-beacon" : "";
  return `<div id="root" data-address="${escapeHtml(address)}"${beacon}>${withoutVoidSlashes(body)}</div>`;
}

/** React ends void elements with "/>", which HTML validators report. In text, ">" is escaped. */
function withoutVoidSlashes(html: string): string {
  return html.replaceAll(/ ?\/>/g, ">");
}
