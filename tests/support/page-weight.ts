// What the landing page weighs, in bytes as they are sent: compressed with brotli.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { builtClient } from "../../server/views/renderer.ts";

/** In bytes. A server sends 14 KB before the first acknowledgement, so the page paints after one round trip. */
export const budgets = {
  "HTML with CSS": 14 * 1024,
  "script of the first load": 3 * 1024,
  "first load": 26 * 1024,
  "hydrating JavaScript": 72 * 1024,
};

export async function weighPage(url: string): Promise<Record<keyof typeof budgets, number>> {
  const page = await (await fetch(url)).text();
  const sizeOf = async (path = "missing") => {
    const response = await fetch(url + path, { method: "HEAD", headers: { "Accept-Encoding": "br" } });
    return Number(response.headers.get("content-length"));
  };
  const html = await sizeOf("/");
  const [, loader = ""] = /<script type="module"[^>]* src="\/assets\/([^"]+)"/.exec(page) ?? [];
  const script = await sizeOf(`/assets/${loader}`);
  const font = await sizeOf(/<link rel="preload" href="([^"]+)"/.exec(page)?.[1]);
  const icon = await sizeOf("/favicon.svg");
  const assets = join(builtClient, "assets");
  const hydrating = readdirSync(assets).filter((name) => name.endsWith(".js.br") && name !== `${loader}.br`);
  return {
    "HTML with CSS": html,
    "script of the first load": script,
    "first load": html + script + font + icon,
    "hydrating JavaScript": hydrating.reduce((sum, name) => sum + readFileSync(join(assets, name)).length, 0),
  };
}
