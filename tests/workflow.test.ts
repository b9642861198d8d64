// .github/workflows/ci.yml: what it runs, and what its jobs may do.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { projectRoot } from "../server/project-root.ts";

interface Job {
  if?: string;
  permissions?: Record<string, string>;
  steps: { uses?: string; run?: string; with?: Record<string, unknown> }[];
}

const text = readFileSync(join(projectRoot, ".github/workflows/ci.yml"), "utf8");
const { permissions, jobs } = parse(text) as { permissions: Record<string, string>; jobs: Record<string, Job> };
const steps = Object.values(jobs).flatMap((job) => job.steps);

it("runs .ci/run on every change, and scans a new build of the image every week", () => {
  expect(jobs.test?.if).toBeUndefined();
  expect(jobs.test?.steps.map(({ run }) => run)).toContainEqual(expect.stringMatching(/ \.ci\/run$/));
  expect(text).toMatch(/^  schedule:\n    - cron: "\d+ \d+ \* \* 1"$/m);
  expect(jobs.scan?.steps.slice(1)).toMatchObject([
    { run: "docker build --pull --tag perennial ." },
    { with: { image: "perennial" } },
  ]);
});

it("may write packages in the job that pushes them, and nothing else", () => {
  expect(permissions).toEqual({ contents: "read" });
  expect(Object.entries(jobs).filter(([, job]) => job.permissions)).toEqual([
    ["image", expect.objectContaining({ permissions: { contents: "read", packages: "write" } })],
  ]);
});

it("pins each action to a commit, and keeps no credentials in the clone", () => {
  for (const { uses, with: inputs } of steps) {
    if (!uses) continue;
    expect(uses).toMatch(/^[\w-]+\/[\w-]+@[\da-f]{40}$/);
    if (uses.startsWith("actions/checkout@")) expect(inputs).toEqual({ "persist-credentials": false });
  }
});
