// The byte budgets of the built page: what a first visit loads, and what the form needs later.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, expect, it } from "vitest";
import { createTestApp } from "./support/app.ts";
import { budgets, weighPage } from "./support/page-weight.ts";

const site = await createTestApp();
const server = createServer(site.app).listen(0, "127.0.0.1");
await once(server, "listening");
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const html = await (await fetch(url)).text();
const weight: Record<string, number> = await weighPage(url);

afterAll(async () => {
  server.close();
  await site.close();
});

it.each(Object.entries(budgets))("the %s weighs at most %i bytes", (name, limit) => {
  expect(weight[name]).toBeGreaterThan(0);
  expect(weight[name]).toBeLessThanOrEqual(limit);
});

it("a first load fetches nothing else", () => {
  const paths = [...html.matchAll(/(?<!<a )(?:src|href)="([^"#]+)"/g)].map(([, path]) => path as string);
  const files = paths.filter((path) => !path.startsWith("http://localhost:3000/")); // The canonical address.
  expect(files.map((path) => path.replace(/-[\w-]{8}\./, "."))).toEqual([
    "/favicon.ico",
    "/favicon.svg",
    "/apple-touch-icon.png", // Browsers fetch this and the next when the page is added to a home screen.
    "/site.webmanifest",
    "/assets/familjen-grotesk.woff2",
    "/assets/index.js",
  ]);
});

it("nothing blocks rendering, and the script has low priority", () => {
  expect(html.match(/<script(?! type="(?:module|application\/ld\+json)")/g)).toBeNull();
  expect(html).not.toContain('rel="stylesheet"');
  expect(html).toContain('<script type="module" fetchpriority="low"');
});
