// The byte budgets of the built page: what a first visit loads, and what the form needs later.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import request from "supertest";
import { expect, it } from "vitest";
import { builtClient } from "../server/views/frontend.ts";
import { createTestApp } from "./support/app.ts";

const { app } = await createTestApp();
const html = (await request(app).get("/")).text;

/** Returns the number of bytes that are sent: compressed with brotli. */
async function sizeOf(path: string): Promise<number> {
  const { status, headers } = await request(app).head(path).set("Accept-Encoding", "br");
  expect(status).toBe(200);
  return Number(headers["content-length"]);
}

const [, loader = ""] = /<script type="module"[^>]* src="\/assets\/([^"]+)"/.exec(html) ?? [];
const page = await sizeOf("/");
const script = await sizeOf(`/assets/${loader}`);
/** Browsers prefer favicon.svg, and fetch the last two when the page is added to a home screen. */
const later = /^\/(privacy|favicon\.ico|apple-touch-icon\.png|site\.webmanifest)$/;
let firstLoad = page;
const paths = Array.from(
  html.matchAll(/(?:(?:src|href)="|url\(["']?)(\/[^/"'#)][^"'#)]*)/g),
  ([, path]) => path as string,
);
for (const path of new Set(paths)) if (!later.test(path)) firstLoad += await sizeOf(path);
const assets = join(builtClient, "assets");
const hydrating = readdirSync(assets).filter((name) => name.endsWith(".js.br") && name !== `${loader}.br`);

// A server sends 14 KB before the first acknowledgement, so the page paints after one round trip.
it.each([
  ["HTML with CSS", 14, page],
  ["script of the first load", 3, script],
  ["first load", 26, firstLoad],
  ["hydrating JavaScript", 72, hydrating.reduce((sum, name) => sum + readFileSync(join(assets, name)).length, 0)],
])("the %s weighs at most %i KB", (_, limit, size) => {
  expect(size).toBeGreaterThan(0);
  expect(size).toBeLessThanOrEqual(limit * 1024);
});

it("the landing page has nothing that blocks rendering, and its script has low priority", () => {
  expect(html.match(/<script(?! type="(?:module|application\/ld\+json)")/g)).toBeNull();
  expect(html).not.toContain('rel="stylesheet"');
  expect(html).toContain('<script type="module" fetchpriority="low"');
});
