// What the browser gets: the built pages and files, or in development those of Vite.
import { randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type { Server } from "node:http";
import { extname, join, relative, sep } from "node:path";
import { contentType } from "mime-types";
import type { ViteDevServer } from "vite";
import { cacheResponse, type Cache, type CachedResponse } from "../http/cached-response.ts";
import { projectRoot } from "../project-root.ts";
import { crawlerFiles } from "./crawlers.ts";
import type { PublicSite } from "./document.ts";
import { createPageCache, type PageCache } from "./page-cache.ts";
import { builtClient, createBuiltRenderer, createDevRenderer, type Renderer } from "./renderer.ts";

export interface Frontend extends PageCache {
  renderer: Renderer;
  files: Cache;
  /** CSP sources of the pages' inline styles and scripts. */
  inline: { styles: string[]; scripts: string[] };
  /** Serves the client's sources in development. */
  vite?: ViteDevServer;
}

/** Reads the result of `npm run build`. */
export async function createBuiltFrontend(site: PublicSite): Promise<Frontend> {
  const { listedAddresses, onDemandAddresses, pageAddress, prerenderedAddresses, renderErrorPage, renderPage } =
    await import("../../client/entry-server.tsx");
  const entry = { listedAddresses, pageAddress, renderErrorPage, renderPage };
  const { renderer, styles } = await createBuiltRenderer(entry, site);
  return {
    ...(await createPageCache(renderer, prerenderedAddresses, onDemandAddresses)),
    renderer,
    files: new Map([...(await readStaticFiles(builtClient)), ...crawlerFiles(site, listedAddresses())]),
    inline: { styles, scripts: [] },
  };
}

/** @param server carries Vite's messages to the browser. */
export async function createDevFrontend(server: Server, site: PublicSite): Promise<Frontend> {
  const { createServer: createVite } = await import("vite");
  const nonce = randomBytes(16).toString("base64");
  const vite = await createVite({
    configFile: join(projectRoot, "vite.config.ts"),
    server: { middlewareMode: true, hmr: { server } },
    appType: "custom",
    html: { cspNonce: nonce },
  });
  const renderer = createDevRenderer(vite, site);
  const sources = [`'nonce-${nonce}'`];
  return {
    ...(await createPageCache(renderer, [], [])),
    renderer,
    files: crawlerFiles(site, await renderer.listedAddresses()),
    inline: { styles: sources, scripts: sources },
    vite,
  };
}

/** Files below /assets/ have a hash in their name. */
const hashedCaching = "public, max-age=31536000, immutable";
const otherCaching = "public, max-age=3600";

/** Reads the folder's files and the compressed variants beside them, without index.html, which is a template. */
async function readStaticFiles(folder: string): Promise<Cache> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const files = paths
    .filter((path) => !/\.(?:br|gz)$/.test(path) && path !== join(folder, "index.html"))
    .map(async (path) => {
      const address = `/${relative(folder, path).split(sep).join("/")}`;
      return [address, await readCached(path, address.startsWith("/assets/") ? hashedCaching : otherCaching)] as const;
    });
  return new Map(await Promise.all(files));
}

async function readCached(path: string, caching: string): Promise<CachedResponse> {
  const readVariant = (ending: string) => readFile(path + ending).catch(() => undefined);
  const [identity, br, gzip] = await Promise.all([readFile(path), readVariant(".br"), readVariant(".gz")]);
  const mediaType = contentType(extname(path)) || "application/octet-stream";
  const headers = { "Content-Type": mediaType, "Cache-Control": caching };
  return cacheResponse({ identity, ...(br && { br }), ...(gzip && { gzip }) }, 200, headers);
}
