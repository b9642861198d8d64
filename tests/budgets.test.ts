// The byte budgets of the built page, exact: what a first visit loads, and what the form needs later.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import request from "supertest";
import { afterAll, beforeAll, expect, it } from "vitest";
import { builtClient } from "../server/views/renderer.ts";
import { createTestApp, type TestApp } from "./support/app.ts";

let site: TestApp;
let html: string;

beforeAll(async () => {
  site = await createTestApp("postgresql://unused:unused@127.0.0.1:1/unused");
  html = (await request(site.app).get("/").set("Accept-Encoding", "identity")).text;
});

afterAll(() => site.close());

async function compressedSize(path: string): Promise<number> {
  const { headers } = await request(site.app).head(path).set("Accept-Encoding", "br");
  return Number(headers["content-length"]);
}

const kilobyte = 1024;

it("the page with its styles takes at most 14 KB", async () => {
  expect(await compressedSize("/")).toBeLessThanOrEqual(14 * kilobyte);
});

it("the first load takes at most 40 KB, of it 3 KB script, and nothing of it blocks rendering", async () => {
  const script = /<script type="module"[^>]* src="([^"]+)"/.exec(html)?.[1] as string;
  const font = /<link rel="preload" href="([^"]+)"/.exec(html)?.[1] as string;
  expect(await compressedSize(script)).toBeLessThanOrEqual(3 * kilobyte);
  const all = [script, font, "/", "/favicon.svg"].map(compressedSize);
  const total = (await Promise.all(all)).reduce((sum, size) => sum + size, 0);
  expect(total).toBeLessThanOrEqual(40 * kilobyte);
  expect(html.match(/<script(?! type="(?:module|application\/ld\+json)")/g)).toBeNull();
  expect(html).not.toContain('rel="stylesheet"');
});

it("the JavaScript that hydrates takes at most 90 KB, the toasts included", () => {
  const assets = join(builtClient, "assets");
  const scripts = readdirSync(assets).filter((name) => name.endsWith(".js.br"));
  expect(scripts).toHaveLength(3);
  const total = scripts.reduce((sum, name) => sum + readFileSync(join(assets, name)).length, 0);
  expect(total).toBeLessThanOrEqual(90 * kilobyte);
});
