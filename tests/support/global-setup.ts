// Before all tests that need them: starts a real Postgres and finds a browser. After them: searches all logs for data of sign-ups.
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { findChromium, type Chromium } from "./chromium.ts";
import { startPostgres } from "./postgres.ts";
import { queryAs } from "./query.ts";
import { createTemplates, type Templates } from "./templates.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The superuser's URL, with which tests create databases of their own. */
    superuserUrl: string;
    templates: Templates;
    chromium: Chromium;
  }
}

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (project.vitest.projects.every(({ name }) => name === "unit")) return undefined;
  const records = await mkdtemp(join(tmpdir(), "perennial-records-"));
  process.env.PERENNIAL_TEST_RECORDS = records;
  const postgres = await startPostgres();
  // A crash may cost this Postgres its data, and its passwords need no strength.
  for (const setting of ["fsync = off", "synchronous_commit = off", "full_page_writes = off", "scram_iterations = 1"]) {
    await queryAs(postgres.superuserUrl, `ALTER SYSTEM SET ${setting}`);
  }
  await queryAs(postgres.superuserUrl, "SELECT pg_reload_conf()");
  project.provide("superuserUrl", postgres.superuserUrl);
  project.provide("templates", await createTemplates(postgres.superuserUrl));
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

/**
 * @param isWholeRun false if the run has selected tests, which may send or log nothing.
 * @throws if a line of the log contains a value that was sent.
 */
function searchLogs(folder: string, isWholeRun: boolean): void {
  // Ids and times differ in every line; without them most lines are equal.
  const read = (name: string) => readFileSync(join(folder, name), { encoding: "utf8", flag: "a+" });
  const changing = /"(?:id|time|ms|pid)":(?:"[^"]*"|\d+),?|\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/g;
  const log = [...new Set(read("logs").replaceAll(changing, "").split("\n"))].join("\n");
  const words = new Set(read("sent").split("\n").flatMap(values));
  if (isWholeRun && !(log.includes('"path":"/api/earlyaccess"') && words.has("ada@example.com"))) {
    throw new Error("The sign-ups and logs of the test run were not recorded.");
  }
  for (const word of words) {
    for (let at = log.indexOf(word); at >= 0; at = log.indexOf(word, at + 1)) {
      // Part of another word does not count, such as "const" in "constraint".
      if (/\w/.test(log[at - 1] ?? "") && /^\w/.test(word)) continue;
      if (/\w/.test(log[at + word.length] ?? "") && /\w$/.test(word)) continue;
      const around = log.slice(Math.max(0, at - 300), at + 100);
      throw new Error(`A log contains ${JSON.stringify(word)}, which a test sent: ${around}`);
    }
  }
}

/** Returns the texts of a body that cannot occur in a log by accident. */
function values(body: string): string[] {
  const found: string[] = [];
  try {
    JSON.parse(body, (_, value: unknown) => void (typeof value === "string" && found.push(value)));
  } catch {
    found.push(...new URLSearchParams(body).values());
  }
  // fast-check generates the names of properties that every function has, such as "apply".
  const isAccident = (value: string) => value.length < 5 || /^(?:[\d.-]+|(.)\1*)$/su.test(value) || value in Function;
  return found.map((value) => value.trim()).filter((value) => !isAccident(value));
}
