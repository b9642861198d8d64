// docs/promises.md names the tests that hold each promise, by file and title. This test finds them.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectRoot } from "../server/project-root.ts";

const read = (name: string) => readFileSync(join(projectRoot, name), "utf8");

it("docs/promises.md names a test for each promise, and each of them exists", () => {
  const promises = read("docs/promises.md")
    .split("\n")
    .filter((line) => /^\| (?!Promise \|)/.test(line));
  expect(promises.length).toBeGreaterThan(0);
  expect(promises.flatMap(findFaults), "Correct these rows of docs/promises.md, or their tests").toEqual([]);
});

/** Returns a line for each reference of the row, written as `file` › "title", "title", that leads to no test. */
function findFaults(row: string): string[] {
  const promise = row.slice(2).split(" | ", 1).join();
  const references = [...row.matchAll(/`([^`]+)` › ((?:"[^"]+"(?:, )?)+)/g)];
  if (references.length === 0 || references.length < row.split("›").length - 1) return [`No readable test: ${promise}`];
  return references.flatMap(([, file = "", titles = ""]) =>
    [...titles.matchAll(/"([^"]+)"/g)]
      .filter(([, title = ""]) => !hasTest(file, title))
      .map(([quoted]) => `${file} has no ${quoted}: ${promise}`),
  );
}

/** Returns true if the file has exactly one string that begins so, if the title ends with …, or else the title as a whole string. */
function hasTest(file: string, title: string): boolean {
  if (!/^tests\/|\.test\.ts$/.test(file) || !existsSync(join(projectRoot, file))) return false;
  const source = read(file);
  const quotes = ['"', "'", "`"];
  if (!title.endsWith("…")) return quotes.some((quote) => source.includes(`${quote}${title}${quote}`));
  const count = (quote: string) => source.split(`${quote}${title.slice(0, -1)}`).length - 1;
  return quotes.map(count).reduce((sum, found) => sum + found) === 1;
}
