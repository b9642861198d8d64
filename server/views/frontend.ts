// What browsers and crawlers get: the built pages and files, or in development those of Vite.
import { createHash, randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type { Server } from "node:http";
import { extname, join, relative, sep } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { contentType } from "mime-types";
import type { ViteDevServer } from "vite";
import type * as EntryServer from "../../client/entry-server.tsx";
import { cacheResponse, type Cache, type CachedResponse } from "../http/cached-response.ts";
import { projectRoot } from "../project-root.ts";
import type * as DocumentModule from "./document.ts";
import { createDocument, escapeHtml, type PublicSite } from "./document.ts";
import { createPages, type Pages } from "./page-cache.ts";

export interface Frontend extends Pages {
  files: Cache;
  /** CSP sources of the pages' inline styles and scripts. */
  inline: { styles: string[]; scripts: string[] };
  vite?: ViteDevServer;
}

export async function createBuiltFrontend(site: PublicSite): Promise<Frontend> {
  const { findPage, findState, prerenderedIds, renderPage } = await import("../../client/entry-server.tsx");
  const { toDocument, styles } = await readTemplate(site);
  const load = async () => ({ findPage, findState, prerenderedIds, renderPage, toDocument });
  return {
    ...(await createPages(load, site.settings, true)),
    files: await readStaticFiles(builtClient),
    inline: { styles, scripts: [] },
  };
}

export const builtClient = join(projectRoot, "dist", "client");

/** Inlines the stylesheet of the page, so that the first paint waits for the document only. */
async function readTemplate(site: PublicSite) {
  const template = await readFile(join(builtClient, "index.html"), "utf8");
  const link = /<link rel="stylesheet"[^>]* href="([^"]+)"[^>]*>/.exec(template);
  const other = (await readdir(join(builtClient, "assets"))).find((name) => /^other-pages-.*\.css$/.test(name));
  if (!link || !other) throw new Error(`${builtClient} has no stylesheet; build again`);
  const readSheet = async (path: string) => (await readFile(join(builtClient, path), "utf8")).trim();
  const sheets = { landing: await readSheet(link[1] as string), other: await readSheet(`assets/${other}`) };
  const inline = (css: string) => template.replace(link[0], () => `<style>${css}</style>`);
  const create = (css: string) => createDocument(inline(css), site);
  const documents = { landing: create(sheets.landing), other: create(sheets.other) };
  return {
    toDocument: (page: EntryServer.RenderedPage) => documents[page.sheet](page),
    styles: Object.values(sheets).map((css) => `'sha256-${createHash("sha256").update(css).digest("base64")}'`),
  };
}

/** Files below /assets/ have a hash in their name. */
const hashedCaching = "public, max-age=31536000, immutable";
const otherCaching = "public, max-age=3600";

/** Leaves out index.html, which is a template. */
async function readStaticFiles(folder: string): Promise<Cache> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const files = names
    .filter((name) => !/\.(?:br|gz)$/.test(name) && name !== join(folder, "index.html"))
    .map(async (name) => {
      const path = `/${relative(folder, name).split(sep).join("/")}`;
      return [path, await readCached(name, path.startsWith("/assets/") ? hashedCaching : otherCaching)] as const;
    });
  return new Map(await Promise.all(files));
}

async function readCached(name: string, caching: string): Promise<CachedResponse> {
  const readVariant = (ending: string) => readFile(name + ending).catch(() => undefined);
  const [identity, br, gzip] = await Promise.all([readFile(name), readVariant(".br"), readVariant(".gz")]);
  const mediaType = contentType(extname(name)) || "application/octet-stream";
  const headers = { "Content-Type": mediaType, "Cache-Control": caching };
  return cacheResponse({ identity, ...(br && { br }), ...(gzip && { gzip }) }, 200, headers);
}

const documentModule = join(projectRoot, "server", "views", "document.ts");

/** @param server carries Vite's messages to the browser. */
export async function createDevFrontend(server: Server, site: PublicSite): Promise<Frontend> {
  const { createServer: createVite, createServerModuleRunner } = await import("vite");
  const nonce = randomBytes(16).toString("base64");
  const vite = await createVite({
    configFile: join(projectRoot, "vite.config.ts"),
    server: { middlewareMode: true, ws: { server } },
    appType: "custom",
    html: { cspNonce: nonce },
  });
  // Each import checks for edits. With its own hot updates, the runner could reload modules during a request.
  const runner = createServerModuleRunner(vite.environments.ssr, { hmr: false });
  // Otherwise, Vite's client would wait for a restarted server in a SharedWorker from a blob: URL, which the CSP forbids.
  const waitInPage = `<script nonce="${nonce}">delete window.SharedWorker</script>`;
  const load = async () => {
    const entry = await runner.import<typeof EntryServer>("/entry-server.tsx");
    // Import it again: the head has texts of client/shared/content.ts, and an edit of that file does not restart the server.
    const { createDocument: create } = await runner.import<typeof DocumentModule>(documentModule);
    const toDocument = async (page: EntryServer.RenderedPage) => {
      const template = await readFile(join(projectRoot, "client", "index.html"), "utf8");
      const source = page.sheet === "landing" ? template : template.replace("/styles.css", "/other-pages.css");
      return create(await vite.transformIndexHtml("/", source.replace("<head>", `<head>${waitInPage}`)), site)(page);
    };
    return { ...entry, toDocument };
  };
  /** The page for sources that do not compile. The next edit reloads it. */
  const faultPage = ({ message }: Error) => {
    vite.config.logger.error(message);
    vite.watcher.once("all", () => vite.environments.client.hot.send({ type: "full-reload" }));
    const client = `${waitInPage}<script type="module" nonce="${nonce}" src="/@vite/client"></script>`;
    const html = `<!doctype html><title>Error</title>${client}<pre>${escapeHtml(stripVTControlCharacters(message))}</pre>`;
    return cacheResponse({ identity: Buffer.from(html) }, 500, { "Content-Type": "text/html; charset=utf-8" });
  };
  const sources = [`'nonce-${nonce}'`];
  const pages = await createPages(load, site.settings, false);
  return {
    ...pages,
    errorPage: () => pages.getPage("failed").catch(faultPage),
    files: new Map(),
    inline: { styles: sources, scripts: sources },
    vite,
  };
}
