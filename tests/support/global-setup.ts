// Before all tests: a real Postgres in a folder of its own, and a browser.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { openEmbedded } from "../../server/database/embedded.ts";
import { findChromium, type Chromium } from "./chromium.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The superuser's connection, by which tests make databases of their own. */
    superuserUrl: string;
    chromium: Chromium;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), "perennial-test-"));
  const postgres = await openEmbedded(directory);
  const passwords = JSON.parse(await readFile(join(postgres.directory, "passwords.json"), "utf8")) as {
    superuser: string;
  };
  const superuser = new URL(postgres.ownerUrl);
  superuser.username = "postgres";
  superuser.password = passwords.superuser;
  superuser.pathname = "/postgres";
  project.provide("superuserUrl", superuser.href);
  project.provide("chromium", await findChromium());
  return async () => {
    await postgres.release();
    await rm(directory, { recursive: true, force: true });
  };
}
