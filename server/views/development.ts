// What browsers get in development: the pages and files of Vite, with hot reload.
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Server } from "node:http";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { RequestHandler } from "express";
import type * as EntryServer from "../../client/entry-server.tsx";
import { cacheResponse } from "../http/cached-response.ts";
import { projectRoot } from "../config/project-root.ts";
import type * as DocumentModule from "./document.ts";
import { html, Html, type PublicSite } from "./document.ts";
import type { Frontend } from "./frontend.ts";
import { createPages } from "./page-cache.ts";

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
    const text = stripVTControlCharacters(message);
    const document = html`<!doctype html><title>Error</title>${new Html(client)}<pre>${text}</pre>`;
    return cacheResponse({ identity: Buffer.from(document.toString()) }, 500, {
      "Content-Type": "text/html; charset=utf-8",
    });
  };
  /** Answers no page of another site or port: Vite opens files in the developer's editor for whoever asks. A link to a page works. */
  const viteOfOwnPages: RequestHandler = (req, res, next) =>
    /^(cross|same)-site$/.test(req.get("sec-fetch-site") ?? "") ? next() : vite.middlewares(req, res, next);
  const sources = [`'nonce-${nonce}'`];
  const pages = await createPages(load, site.settings, false);
  return {
    ...pages,
    errorPage: () => pages.getPage("failed").catch(faultPage),
    files: new Map(),
    inline: { styles: sources, scripts: sources },
    vite: viteOfOwnPages,
  };
}
