// The byte budgets of the built page, exact: what a first visit loads, and what the form needs later.
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { builtClient } from "../server/views/renderer.ts";
import { createTestApp, type TestApp } from "./support/app.ts";
import { budgets, weighPage, type PageWeight } from "./support/page-weight.ts";

let site: TestApp;
let server: Server;
let html: string;
let weight: PageWeight;

beforeAll(async () => {
  site = await createTestApp("postgresql://unused:unused@127.0.0.1:1/unused");
  server = createServer(site.app).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  html = await (await fetch(url)).text();
  weight = await weighPage(url);
});

afterAll(async () => {
  server.close();
  await site.close();
});

it.each(Object.entries(budgets))("%s weighs at most %i bytes", (name, limit) => {
  const size = weight[name as keyof PageWeight];
  expect(size).toBeGreaterThan(0);
  expect(size).toBeLessThanOrEqual(limit);
});

it("nothing else is fetched by a first load", () => {
  const urls = [...html.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, url]) => url as string);
  const files = urls.filter((url) => !url.startsWith("http://localhost:3000/")); // The canonical address.
  expect(files.map((url) => url.replace(/-[\w-]{8}\./, "."))).toEqual([
    "/favicon.ico",
    "/favicon.svg",
    "/apple-touch-icon.png", // This and the next are asked for when the page is put on a home screen.
    "/site.webmanifest",
    "/assets/familjen-grotesk.woff2",
    "/assets/index.js",
  ]);
});

it("nothing blocks rendering, and the script comes after everything else", () => {
  expect(html.match(/<script(?! type="(?:module|application\/ld\+json)")/g)).toBeNull();
  expect(html).not.toContain('rel="stylesheet"');
  expect(html).toContain('<script type="module" fetchpriority="low"');
});

it("what hydrates is in two files, and the loader in one", () => {
  const scripts = readdirSync(join(builtClient, "assets")).filter((name) => name.endsWith(".js"));
  expect(scripts.map((name) => name.replace(/-.*/, "")).toSorted((a, b) => a.localeCompare(b))).toEqual([
    "hydrate",
    "index",
    "notify",
  ]);
});
