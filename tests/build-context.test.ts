// What reaches the image and git: nothing but the project's own files, also beside exports, backups and secrets.
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, sep } from "node:path";
import { promisify } from "node:util";
import dockerignore from "@balena/dockerignore";
import { afterAll, expect, it } from "vitest";
import { projectRoot } from "../server/project-root.ts";

const run = promisify(execFile);

const exported = ["list.csv", "backup.dump", "report.html", "2026/list.csv"].map((name) => `exports/${name}`);
const secrets = [".env", ".env.local", "client/.env", ".data/postgres/passwords.json"];
/** What an operator or a developer may leave in the project folder, and git ignores. */
const ignoredStrays = [...exported, ...secrets, "node_modules/x.js", "dist/server/x.js"];
const otherStrays = ["backup.dump", "docs/list.csv", "list.csv", "note.txt", "tests/list.csv"];

/** A copy of the tracked files as they are now, in a repository of its own, with strays beside them. */
const project = await mkdtemp(join(tmpdir(), "perennial-context-"));
const tracked = (await git(projectRoot, "ls-files", "-z")).split("\0").filter(Boolean);
for (const file of tracked) await cp(join(projectRoot, file), join(project, file));
await git(project, "init", "--quiet");
await git(project, "add", "--all");
for (const file of [...ignoredStrays, ...otherStrays]) {
  await mkdir(dirname(join(project, file)), { recursive: true });
  await writeFile(join(project, file), "ada@example.com");
}
const ignored = dockerignore().add(await readFile(join(project, ".dockerignore"), "utf8"));
const entries = await readdir(project, { recursive: true, withFileTypes: true });
const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
const context = ignored.filter(files.map((file) => file.slice(project.length + 1).replaceAll(sep, "/")));

afterAll(() => rm(project, { recursive: true }));

it(".gitignore keeps exports, secrets and what the build makes out of git", async () => {
  expect(await git(project, "check-ignore", ...ignoredStrays)).toBe(`${ignoredStrays.join("\n")}\n`);
  const status = await git(project, "status", "--porcelain", "--untracked-files=all");
  const untracked = Array.from(status.matchAll(/^\?\? (.*)$/gm), ([, file]) => file);
  expect(untracked).toEqual(otherStrays);
});

it(".dockerignore sends tracked files alone to the image, without tests and documents", () => {
  expect(context.filter((file) => !tracked.includes(file))).toEqual([]);
  expect(context.filter((file) => /^(tests|docs|deploy|exports)\/|\.test\.ts$|\.md$|^\./.test(file))).toEqual([]);
});

async function git(cwd: string, ...args: string[]): Promise<string> {
  return (await run("git", args, { cwd })).stdout;
}
