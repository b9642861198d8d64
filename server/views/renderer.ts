// Renders pages to HTML documents: from the build, or in development through Vite.
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ViteDevServer } from "vite";
import type * as EntryServer from "../../client/entry-server.tsx";
import type { FormFailure } from "../../client/shared/page-data.ts";
import { projectRoot } from "../project-root.ts";
import type * as DocumentModule from "./document.ts";
import { createDocument, type PublicSite } from "./document.ts";

export interface RenderedDocument {
  status: number;
  html: string;
}

type Entry = Pick<typeof EntryServer, "listedAddresses" | "pageAddress" | "renderPage" | "renderErrorPage">;

export interface Renderer {
  /** Returns the address to render for a request; unknownAddress if no route matches. */
  addressOf(path: string, query: string): Promise<string>;
  /** @throws whatever a component throws. */
  page(address: string, failure?: FormFailure): Promise<RenderedDocument>;
  errorPage(): Promise<RenderedDocument>;
  /** Returns the paths of the pages that search engines may list. */
  listedAddresses(): Promise<string[]>;
}

/** The folder of the client's built files. */
export const builtClient = join(projectRoot, "dist", "client");

/** The stylesheet of the page with this address. */
const sheetOf = (address: string) => (/^\/(?:\?|$)/.test(address) ? "landing" : "other");

/**
 * Inlines the stylesheet of the page, so that the first paint waits for the document only, and adds the script's hash, so that the
 * browser runs no other script in its place.
 * @returns the renderer, and the CSP sources of the inline styles.
 */
export async function createBuiltRenderer(entry: Entry, site: PublicSite) {
  const template = await readFile(join(builtClient, "index.html"), "utf8");
  const link = /<link rel="stylesheet"[^>]* href="([^"]+)"[^>]*>/.exec(template);
  const other = (await readdir(join(builtClient, "assets"))).find((name) => /^other-pages-.*\.css$/.test(name));
  if (!link || !other) throw new Error(`${builtClient} has no stylesheet; build again`);
  const readSheet = async (path: string) => (await readFile(join(builtClient, path), "utf8")).trim();
  const sheets = { landing: await readSheet(link[1] as string), other: await readSheet(`assets/${other}`) };
  const script = /<script type="module"[^>]* src="([^"]+)"/.exec(template);
  if (!script) throw new Error(`${builtClient}/index.html has no script; build again`);
  const code = await readFile(join(builtClient, script[1] as string));
  const create = (css: string) =>
    createDocument(
      template
        .replace(link[0], () => `<style>${css}</style>`)
        .replace(script[0], () => `${script[0]} integrity="${integrity(code)}"`),
      site,
    );
  const documents = { landing: create(sheets.landing), other: create(sheets.other) };
  const render = (page: EntryServer.RenderedPage) => renderDocument(documents[sheetOf(page.address)], page);
  const renderer: Renderer = {
    addressOf: async (path, query) => entry.pageAddress(path, query),
    page: async (address, failure) => render(entry.renderPage(address, site.settings(), failure)),
    errorPage: async () => render(entry.renderErrorPage(site.settings())),
    listedAddresses: async () => entry.listedAddresses(),
  };
  return { renderer, styles: Object.values(sheets).map((css) => `'${integrity(css)}'`) };
}

/** Returns the hash by which a browser recognises a script or style. */
function integrity(content: string | Buffer): string {
  return `sha256-${createHash("sha256").update(content).digest("base64")}`;
}

const documentModule = join(projectRoot, "server", "views", "document.ts");

export function createDevRenderer(vite: ViteDevServer, site: PublicSite): Renderer {
  const load = () => vite.ssrLoadModule("/entry-server.tsx") as Promise<typeof EntryServer>;
  // Not the import above: the head has texts of client/shared/content.ts, and an edit of that file does not restart the server.
  const loadDocument = () => vite.ssrLoadModule(documentModule) as Promise<typeof DocumentModule>;
  const document = async (address: string) => {
    const template = await readFile(join(projectRoot, "client", "index.html"), "utf8");
    const source = sheetOf(address) === "landing" ? template : template.replace("/styles.css", "/other-pages.css");
    const { createDocument: create } = await loadDocument();
    return create(await vite.transformIndexHtml(address || "/", source), site);
  };
  return {
    addressOf: async (path, query) => (await load()).pageAddress(path, query),
    page: async (address, failure) =>
      renderDocument(await document(address), (await load()).renderPage(address, site.settings(), failure)),
    errorPage: async () => renderDocument(await document(""), (await load()).renderErrorPage(site.settings())),
    listedAddresses: async () => (await load()).listedAddresses(),
  };
}

function renderDocument(document: (page: EntryServer.RenderedPage) => string, page: EntryServer.RenderedPage) {
  return { status: page.status, html: document(page) };
}
