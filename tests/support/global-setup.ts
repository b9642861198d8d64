// Before all tests: a real Postgres, and a browser; after them: a search of all that was logged.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { findChromium, type Chromium } from "./chromium.ts";
import { startPostgres } from "./postgres.ts";
import { searchLogs } from "./privacy.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The superuser's connection, by which tests make databases of their own. */
    superuserUrl: string;
    chromium: Chromium;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const records = await mkdtemp(join(tmpdir(), "perennial-records-"));
  process.env.PERENNIAL_TEST_RECORDS = records;
  const postgres = await startPostgres();
  project.provide("superuserUrl", postgres.superuserUrl);
  project.provide("chromium", await findChromium());
  return async () => {
    await postgres.release();
    const isWholeRun = !process.argv.slice(3).some((argument) => !argument.startsWith("-"));
    try {
      searchLogs(records, isWholeRun);
    } catch (error) {
      console.error(error);
      process.exitCode = 1; // Vitest would print an error of this function and succeed.
    }
    await rm(records, { recursive: true });
  };
}
