// What browsers and crawlers get: the built pages and files. In development: development.ts.
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import type { RequestHandler } from "express";
import { contentType } from "mime-types";
import type * as EntryServer from "../../client/entry-server.tsx";
import { cacheResponse, type Cache, type CachedResponse } from "../http/cached-response.ts";
import { projectRoot } from "../config/project-root.ts";
import { createDocument, type PublicSite } from "./document.ts";
import { createPages, type Pages } from "./page-cache.ts";

export interface Frontend extends Pages {
  files: Cache;
  /** CSP sources of the pages' inline styles and scripts. */
  inline: { styles: string[]; scripts: string[] };
  vite?: RequestHandler;
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
