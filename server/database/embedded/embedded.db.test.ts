// The embedded Postgres when it is shared, killed or left behind.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { queryAs, withClient } from "../../../tests/support/postgres.ts";
import { until } from "../../../tests/support/run.ts";
import { openEmbedded } from "./embedded.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "perennial-embedded-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

async function open() {
  const database = await openEmbedded(folder);
  onTestFinished(() => database.release());
  return database;
}

async function postmaster(): Promise<number> {
  return Number((await readFile(join(folder, "postgres/data/postmaster.pid"), "utf8")).split("\n")[0]);
}

const gone = (pid: number) => until("the process ended", () => !existsSync(`/proc/${pid}`));

it("the embedded Postgres is one for all who open it at once, and ends with the last of them, also if one of its processes crashed", async () => {
  vi.stubEnv("PGSSLMODE", "require"); // It is for another Postgres.
  onTestFinished(() => void vi.unstubAllEnvs());
  const [a, b, c] = await Promise.all([openEmbedded(folder), openEmbedded(folder), openEmbedded(folder)]);
  expect(new Set([a.ownerUrl, b.ownerUrl, c.ownerUrl]).size).toBe(1);
  await a.release();
  await b.release();
  await withClient(c.ownerUrl, async (client) => {
    let isEnded = false;
    client.on("end", () => (isEnded = true));
    // Until Postgres notices that a process crashed, it accepts connections. Then it ends all of them.
    await withClient(c.ownerUrl, async (crashed) => {
      const { rows } = await crashed.query("SELECT pg_backend_pid() AS pid");
      process.kill(rows[0].pid as number, "SIGKILL");
      await until("Postgres ended its connections", () => isEnded);
    });
  });
  await expect.poll(() => queryAs(c.ownerUrl, "SELECT 1 AS x"), { timeout: 20_000 }).toEqual([{ x: 1 }]);
  const pid = await postmaster();
  const modes = ["postgres/password", "postgres.log"].map(
    async (name) => (await stat(join(folder, name))).mode & 0o777,
  );
  expect(await Promise.all(modes)).toEqual([0o600, 0o600]); // The log may quote a statement.
  await c.release();
  await gone(pid);
});

/** Only a process of the account that Postgres runs as keeps it from starting. */
async function nameUnrelatedProcess() {
  const { uid, gid } = await stat(join(folder, "postgres/data"));
  const unrelated = spawn("sleep", ["600"], process.getuid?.() === 0 ? { uid, gid } : {});
  onTestFinished(() => void unrelated.kill());
  const lock = join(folder, "postgres/data/postmaster.pid");
  await writeFile(lock, (await readFile(lock, "utf8")).replace(/^\d+/, String(unrelated.pid)));
}

async function takePort(url: string) {
  const thief = createServer((socket) => socket.destroy());
  thief.listen(Number(new URL(url).port), "127.0.0.1");
  await once(thief, "listening");
  onTestFinished(() => void thief.close());
}

it.each([
  ["its lock file names an unrelated process", nameUnrelatedProcess],
  ["another program listens on its port", takePort],
])("the embedded Postgres starts again after a SIGKILL if %s", async (_, disturb) => {
  const first = await open();
  await queryAs(first.ownerUrl, "CREATE TABLE kept AS SELECT 7 AS x");
  const pid = await postmaster();
  process.kill(pid, "SIGKILL");
  await gone(pid);
  await disturb(first.ownerUrl);
  expect(await queryAs((await open()).ownerUrl, "SELECT x FROM kept")).toEqual([{ x: 7 }]);
});
