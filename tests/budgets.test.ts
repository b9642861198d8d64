// The budgets of the built page: the bytes of a first visit and of the form, and the functions that the oldest browsers have.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import bcd from "@mdn/browser-compat-data/forLegacyNode";
import type { BrowserName, Identifier } from "@mdn/browser-compat-data/types";
import request from "supertest";
import { expect, it } from "vitest";
import { builtClient } from "../server/views/frontend.ts";
import { oldestBrowsers } from "../vite.config.ts";
import { createTestApp } from "./support/app.ts";

const { app } = await createTestApp();
const html = (await request(app).get("/")).text;

/** Returns the number of bytes that are sent: compressed with brotli. */
async function sizeOf(path: string): Promise<number> {
  const { status, headers } = await request(app).head(path).set("Accept-Encoding", "br");
  expect(status).toBe(200);
  return Number(headers["content-length"]);
}

/** Sizes in bytes by path. */
type Sizes = Record<string, number>;

const [, loader = ""] = /<script type="module"[^>]* src="\/assets\/([^"]+)"/.exec(html) ?? [];
const page: Sizes = { "/": await sizeOf("/") };
const script: Sizes = { [loader]: await sizeOf(`/assets/${loader}`) };
/**
 * Browsers prefer favicon.svg, fetch the next two when the page is added to a home screen, and the fonts when somebody types a letter
 * that the page's texts lack.
 */
const later =
  /^\/(privacy|favicon\.ico|apple-touch-icon\.png|site\.webmanifest|assets\/familjen-grotesk-.+-wght-.+\.woff2)$/;
const firstLoad = { ...page };
const paths = Array.from(
  html.matchAll(/(?:(?:src|href)="|url\(["']?)(\/[^/"'#)][^"'#)]*)/g),
  ([, path]) => path as string,
);
for (const path of new Set(paths)) if (!later.test(path)) firstLoad[path] = await sizeOf(path);
const assets = join(builtClient, "assets");
const hydrating: Sizes = {};
for (const name of readdirSync(assets)) {
  if (name.endsWith(".js.br") && name !== `${loader}.br`) hydrating[name] = readFileSync(join(assets, name)).length;
}

// A server sends 14 KB before the first acknowledgement, so the page paints after one round trip.
it.each<[string, number, Sizes]>([
  ["HTML with CSS", 14, page],
  ["script of the first load", 3, script],
  ["first load", 26, firstLoad],
  ["hydrating JavaScript", 74, hydrating],
])("the %s weighs at most %i KB", (what, limit, sizes) => {
  const size = Object.values(sizes).reduce((sum, one) => sum + one, 0);
  const files = Object.entries(sizes).map(([name, bytes]) => `${name} ${bytes}`);
  process.stdout.write(`${what}: ${files.join(", ")}: ${limit * 1024 - size} bytes left of ${limit} KB\n`);
  expect(size).toBeGreaterThan(0);
  expect(size).toBeLessThanOrEqual(limit * 1024);
});

it("the landing page has nothing that blocks rendering, and its script has low priority", () => {
  expect(html.match(/<script(?! type="(?:module|application\/ld\+json)")/g)).toBeNull();
  expect(html).not.toContain('rel="stylesheet"');
  expect(html).toContain('<script type="module" fetchpriority="low"');
});

const isInOldest = ({ __compat }: Identifier) =>
  oldestBrowsers.every((browser) => {
    const [name = "", version] = browser.replace("ios", "safari_ios").split(/(?<=[a-z])(?=\d)/);
    const support = [__compat?.support[name as BrowserName] ?? []].flat();
    return support.some(
      ({ version_added: added, flags }) => added && !flags && Number(added.replace("≤", "")) <= Number(version),
    );
  });

it("the scripts call no function that the oldest browsers lack", () => {
  const { builtins } = bcd.javascript;
  const objects = { ...bcd.api, ...builtins, ...builtins?.Intl } as Record<string, Identifier>;
  /** By its name, which may be a method of several objects, and by "object.name". */
  const known = new Map<string, boolean>();
  for (const [object, members] of Object.entries(objects)) {
    known.set(object, isInOldest(members));
    for (const [key, member] of Object.entries(members) as [string, Identifier][]) {
      const name = key.replace("_static", "");
      known.set(name, known.get(name) || isInOldest(member));
      known.set(`${object}.${name}`, isInOldest(member));
    }
  }
  const scripts = readdirSync(assets).filter((name) => name.endsWith(".js"));
  const code = scripts.map((name) => readFileSync(join(assets, name), "utf8")).join("\n");
  // Neither "?.(", which asks whether the function exists, nor the short names of minified functions.
  const calls = code.matchAll(/(?:\b([A-Z]\w*)\.)?\b(\w{3,})\(/g);
  const names = Array.from(calls, ([, object, name]) => [name as string, `${object}.${name}`]).flat();
  // React and sonner have functions of their own with the first two names, and React calls the others for its <ViewTransition> only.
  const expected = new Set(["use", "subscribe", "skipTransition", "startViewTransition"]);
  expect(new Set(names.filter((name) => known.get(name) === false))).toEqual(expected);
});
