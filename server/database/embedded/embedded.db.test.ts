// The embedded Postgres through what people do to it: shared, killed, left behind.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { queryAs } from "../../../tests/support/postgres.ts";
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

const gone = (pid: number) =>
  until("the process ended", () => {
    try {
      return !process.kill(pid, 0);
    } catch {
      return true; // No such process.
    }
  });

it("the embedded Postgres is one for all who open it at once, and ends with the last of them", async () => {
  const [a, b, c] = await Promise.all([openEmbedded(folder), openEmbedded(folder), openEmbedded(folder)]);
  expect(new Set([a.ownerUrl, b.ownerUrl, c.ownerUrl]).size).toBe(1);
  const pid = await postmaster();
  await a.release();
  await b.release();
  expect(await queryAs(c.ownerUrl, "SELECT 1 AS x")).toEqual([{ x: 1 }]);
  await c.release();
  await gone(pid);
});

it("the embedded Postgres starts again after a SIGKILL, also if its lock file names an unrelated process, and asks nobody who listens on its port", async () => {
  const first = await open();
  await queryAs(first.ownerUrl, "CREATE TABLE kept AS SELECT 7 AS x");
  const pid = await postmaster();
  process.kill(pid, "SIGKILL");
  await gone(pid);
  // Of the account that Postgres runs as: only such a process keeps it from starting.
  const { uid, gid } = await stat(join(folder, "postgres/data"));
  const unrelated = spawn("sleep", ["600"], process.getuid?.() === 0 ? { uid, gid } : {});
  onTestFinished(() => void unrelated.kill());
  if (process.platform === "linux") {
    const lock = join(folder, "postgres/data/postmaster.pid");
    await writeFile(lock, (await readFile(lock, "utf8")).replace(/^\d+/, String(unrelated.pid)));
  }
  let asked = 0;
  const thief = createServer((socket) => (asked++, socket.destroy()));
  thief.listen(Number(new URL(first.ownerUrl).port), "127.0.0.1");
  await once(thief, "listening");
  onTestFinished(() => void thief.close());
  expect(await queryAs((await open()).ownerUrl, "SELECT x FROM kept")).toEqual([{ x: 7 }]);
  expect(asked).toBe(0);
});
