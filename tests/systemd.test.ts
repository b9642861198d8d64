// deploy/perennial*.service: what the units run, and that both are confined alike.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { scripts } from "../package.json";
import { projectRoot } from "../server/project-root.ts";

const lines = (name: string) => readFileSync(join(projectRoot, "deploy", name), "utf8").split("\n");
const [site, worker] = [lines("perennial.service"), lines("perennial-worker.service")];
const dockerfile = readFileSync(join(projectRoot, "Dockerfile"), "utf8");

it("runs the site with the options of npm start and of the image, and the worker", () => {
  const [, ...options] = scripts.start.split(" ").slice(0, -1);
  expect(options).toHaveLength(2);
  expect(dockerfile).toContain(
    `CMD ${JSON.stringify(["node", ...options, "dist/server/index.js"]).replaceAll(",", ", ")}\n`,
  );
  expect(site).toContain(`ExecStart=/usr/bin/node ${options.join(" ")} server/index.js`);
  expect(worker).toContain("ExecStart=/usr/bin/node server/worker.js");
});

it("confines both alike", () => {
  const confinement = site.slice(site.indexOf("DynamicUser=yes"));
  expect(confinement).toContain("ProtectSystem=strict");
  expect(worker.slice(worker.indexOf("DynamicUser=yes"))).toEqual(confinement);
});
