// At the end of the test run: nothing of what it sent stands in what the site logged.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * @param isWholeRun some of the tests alone may send or log nothing.
 * @throws where a line of the log holds a value that was sent.
 */
export function searchLogs(folder: string, isWholeRun: boolean): void {
  // Ids and times differ in every line; without them few different ones are left.
  const read = (name: string) => readFileSync(join(folder, name), { encoding: "utf8", flag: "a+" });
  const changing = /"(?:id|time|ms|pid)":(?:"[^"]*"|\d+),?|\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/g;
  const log = [...new Set(read("logs").replaceAll(changing, "").split("\n"))].join("\n");
  const words = new Set(read("sent").split("\n").flatMap(values));
  if (isWholeRun && !(log.includes('"path":"/api/earlyaccess"') && words.has("ada@example.com"))) {
    throw new Error("What the test run sent and logged was not kept.");
  }
  for (const word of words) {
    for (let at = log.indexOf(word); at >= 0; at = log.indexOf(word, at + 1)) {
      // A part of another word is an accident, such as "const" in "constraint".
      if (/\w/.test(log[at - 1] ?? "") && /^\w/.test(word)) continue;
      if (/\w/.test(log[at + word.length] ?? "") && /\w$/.test(word)) continue;
      const around = log.slice(Math.max(0, at - 300), at + 100);
      throw new Error(`A log holds ${JSON.stringify(word)}, which was sent: ${around}`);
    }
  }
}

/** The texts in a body, where they are long enough to be no accident in a log, and not a word of the log itself. */
function values(body: string): string[] {
  const found: string[] = [];
  try {
    JSON.parse(body, (_, value: unknown) => void (typeof value === "string" && found.push(value)));
  } catch {
    found.push(...new URLSearchParams(body).values());
  }
  // fast-check likes the names of properties that every function has, such as "apply".
  const isAccident = (value: string) => value.length < 5 || /^(?:[\d.-]+|(.)\1*)$/su.test(value) || value in Function;
  return found.map((value) => value.trim()).filter((value) => !isAccident(value));
}
