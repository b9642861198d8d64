// A log that cannot be written: lines are lost, the site is not.
import assert from "node:assert/strict";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { projectRoot } from "../../server/project-root.ts";
import { freePort } from "../support/free-port.ts";
import { runSite } from "../support/site.ts";
import { ask, assertWell, residentMemory } from "./crowd.ts";
import type { Scenario } from "./scenario.ts";

/** Their lines are more than a pipe holds. */
const visits = 2_000;

const closedPipe: Scenario = {
  name: "log pipe stalled, then closed",
  async run(stand) {
    const site = await stand.startSite();
    site.process.stdout?.pause();
    for (let i = 0; i < visits; i++) assert.equal((await ask(site, "/")).status, 200);
    site.process.stdout?.resume();
    const lines = () => site.stdout().split('"path":"/"').length - 1;
    while (lines() < visits) await sleep(10);
    site.process.stdout?.destroy();
    for (let i = 0; i < visits; i++) assert.equal((await ask(site, "/")).status, 200);
    await assertWell(site);
    assert.equal(await site.stop(), 0);
    assert.equal(site.stderr(), "");
    return `${visits} visits while nobody read the log, whose lines all came later, and ${visits} with its pipe closed; exit code 0`;
  },
};

const fullDisk: Scenario = {
  name: "log disk full",
  async run(stand) {
    const port = await freePort();
    const site = runSite({
      env: { DATABASE_URL: stand.postgres.webUrl, PORT: String(port) },
      command: ["sh", "-c", `exec "${process.execPath}" "${join(projectRoot, "dist/server/index.js")}" > /dev/full`],
    });
    site.url = `http://localhost:${port}`;
    try {
      while (!(await ask(site, "/healthz").catch(() => undefined))) {
        assert.equal(site.process.exitCode, null, `The site ended: ${site.stderr()}`);
        await sleep(50);
      }
      for (let i = 0; i < visits; i++) assert.equal((await ask(site, "/")).status, 200);
      await assertWell(site);
      const memory = residentMemory(site);
      assert.equal(await site.stop(), 0);
      assert.equal(site.stderr(), "");
      return `${visits} visits with a log on /dev/full, ${memory} MB; exit code 0`;
    } finally {
      await site.stop("SIGKILL");
    }
  },
};

export const logFaults: Scenario[] = [closedPipe, fullDisk];
