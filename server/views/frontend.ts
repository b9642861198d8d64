// What the browser gets: the built pages and files, or in development those of Vite.
import { randomBytes } from "node:crypto";
import type { Server } from "node:http";
import { join } from "node:path";
import type { ViteDevServer } from "vite";
import type { Cache } from "../http/cached-response.ts";
import { projectRoot } from "../project-root.ts";
import { crawlerFiles } from "./crawlers.ts";
import type { PublicSite } from "./head.ts";
import { createPageCache, type PageCache } from "./prerendered-pages.ts";
import { builtClient, createBuiltRenderer, createDevRenderer, type Renderer } from "./renderer.ts";
import { readStaticFiles } from "./static-files.ts";

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
