// Before all tests: a real Postgres, and a browser.
import type { TestProject } from "vitest/node";
import { findChromium, type Chromium } from "./chromium.ts";
import { startPostgres } from "./postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The superuser's connection, by which tests make databases of their own. */
    superuserUrl: string;
    chromium: Chromium;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await startPostgres();
  project.provide("superuserUrl", postgres.superuserUrl);
  project.provide("chromium", await findChromium());
  return () => postgres.release();
}
