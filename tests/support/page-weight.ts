// What the landing page weighs for a visitor, in bytes as they are sent: compressed with brotli.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { builtClient } from "../../server/views/renderer.ts";

export interface PageWeight {
  /** With its stylesheet. */
  html: number;
  /** The loader, which fetches the rest when the form comes near. */
  loader: number;
  font: number;
  icon: number;
  firstLoad: number;
  /** Everything that hydrates the page, the toasts included. */
  hydration: number;
}

/** In bytes. 14 KB is what a server sends before the first acknowledgement: the page paints after one round trip. */
export const budgets = { html: 14 * 1024, loader: 3 * 1024, firstLoad: 40 * 1024, hydration: 90 * 1024 };

export async function weighPage(url: string): Promise<PageWeight> {
  const page = await (await fetch(url)).text();
  const sizeOf = async (path: string) => {
    const answer = await fetch(url + path, { method: "HEAD", headers: { "Accept-Encoding": "br" } });
    return Number(answer.headers.get("content-length"));
  };
  const [html, loader, font, icon] = await Promise.all([
    sizeOf("/"),
    sizeOf(/<script type="module"[^>]* src="([^"]+)"/.exec(page)?.[1] as string),
    sizeOf(/<link rel="preload" href="([^"]+)"/.exec(page)?.[1] as string),
    sizeOf("/favicon.svg"),
  ]);
  const firstLoad = html + loader + font + icon;
  return { html, loader, font, icon, firstLoad, hydration: weighHydration() };
}

function weighHydration(): number {
  const assets = join(builtClient, "assets");
  const scripts = readdirSync(assets).filter((name) => /^(hydrate|notify)-.*\.js\.br$/.test(name));
  return scripts.reduce((sum, name) => sum + readFileSync(join(assets, name)).length, 0);
}
