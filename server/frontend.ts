// The pages and files that browsers get: built, or in development through Vite.
import { randomBytes } from "node:crypto";
import type { Server } from "node:http";
import { join } from "node:path";
import type { RequestHandler } from "express";
import type { ViteDevServer } from "vite";
import { createLivePages, createStoredPages, type Pages } from "./controllers/pages.ts";
import { createSiteFiles } from "./controllers/site-files.ts";
import type { SecurityPolicy } from "./middleware/security-headers.ts";
import { projectRoot } from "./project-root.ts";
import type { PublicSite } from "./views/head.ts";
import { builtClient, createBuiltRenderer, createDevRenderer } from "./views/renderer.ts";

interface Frontend {
  pages: Pages;
  siteFiles: RequestHandler;
  inline: Pick<SecurityPolicy, "inlineStyles" | "inlineScripts">;
  vite?: ViteDevServer;
}

/** From what `npm run build` left, kept in memory. */
export async function createBuiltFrontend(site: PublicSite): Promise<Frontend> {
  const renderer = await createBuiltRenderer(await import("../client/entry-server.tsx"), site);
  return {
    pages: await createStoredPages(renderer),
    siteFiles: await createSiteFiles(builtClient),
    inline: { inlineStyles: renderer.inlineStyles, inlineScripts: [] },
  };
}

/** Through Vite, with every change of the sources; `server` carries its messages to the browser. */
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
    pages: await createLivePages(renderer),
    siteFiles: vite.middlewares,
    inline: {
      inlineStyles: renderer.inlineStyles,
      inlineScripts: renderer.inlineStyles,
    },
    vite,
  };
}
