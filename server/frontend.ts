// The pages and files that browsers get: built, or in development through Vite.
import { randomBytes } from "node:crypto";
import type { Server } from "node:http";
import { join } from "node:path";
import type { ViteDevServer } from "vite";
import type { Parts } from "./app.ts";
import { storeCrawlerFiles } from "./controllers/crawlers.ts";
import { createErrorPages, livePages, storePages } from "./controllers/pages.ts";
import { storeSiteFiles } from "./controllers/site-files.ts";
import type { SecurityPolicy } from "./middleware/security-headers.ts";
import type * as WaitlistEntry from "./models/waitlist-entry.ts";
import { projectRoot } from "./project-root.ts";
import type { PublicSite } from "./views/head.ts";
import { builtClient, createBuiltRenderer, createDevRenderer } from "./views/renderer.ts";

interface Frontend extends Pick<Parts, "findStored" | "development" | "parseEntry" | "errorPages"> {
  inline: Pick<SecurityPolicy, "inlineStyles" | "inlineScripts">;
  vite?: ViteDevServer;
}

/** From what `npm run build` left, kept in memory. */
export async function createBuiltFrontend(site: PublicSite): Promise<Frontend> {
  const { pageAddress, pageAddresses, renderPage, renderErrorPage } = await import("../client/entry-server.tsx");
  const renderer = await createBuiltRenderer({ pageAddress, renderPage, renderErrorPage }, site);
  const findCrawlerFile = storeCrawlerFiles(site);
  const findFile = await storeSiteFiles(builtClient);
  const findPage = await storePages(renderer, pageAddresses, pageAddress);
  return {
    // The pages last: they have one for every address.
    findStored: (path, query) => findFile(path, query) ?? findCrawlerFile(path, query) ?? findPage(path, query),
    development: [],
    errorPages: await createErrorPages(renderer),
    inline: { inlineStyles: renderer.inlineStyles, inlineScripts: [] },
  };
}

const entryModule = join(projectRoot, "server", "models", "waitlist-entry.ts");

/**
 * Through Vite, with every change of the sources; `server` carries its messages to the browser. Edits in client/ do not
 * restart the server: what it shows of client/ comes from Vite, and not from its own imports.
 */
export async function createDevFrontend(server: Server, site: PublicSite): Promise<Frontend> {
  const { createServer: createVite } = await import("vite");
  const nonce = randomBytes(16).toString("base64");
  const vite = await createVite({
    configFile: join(projectRoot, "vite.config.ts"),
    server: { middlewareMode: true, hmr: { server } },
    appType: "custom",
    html: { cspNonce: nonce },
  });
  const renderer = createDevRenderer(vite, nonce, site);
  return {
    findStored: storeCrawlerFiles(site),
    development: [vite.middlewares, livePages(renderer)],
    parseEntry: async (...given) => {
      const { parseEntry } = (await vite.ssrLoadModule(entryModule)) as typeof WaitlistEntry;
      return parseEntry(...given);
    },
    errorPages: await createErrorPages(renderer),
    inline: {
      inlineStyles: renderer.inlineStyles,
      inlineScripts: renderer.inlineStyles,
    },
    vite,
  };
}
