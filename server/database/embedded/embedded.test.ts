// The embedded Postgres through what people do to it: shared, killed, left behind.
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openEmbedded, type EmbeddedDatabase } from "./embedded.ts";

let folder: string;
const opened: EmbeddedDatabase[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "perennial-embedded-"));
});

afterEach(async () => {
  for (const database of opened.splice(0)) await database.release();
  await rm(folder, { recursive: true, force: true });
});

async function open() {
  const database = await openEmbedded(folder);
  opened.push(database);
  return database;
}

async function query(url: string, sql: string) {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(sql)).rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}

async function postmaster(): Promise<number> {
  return Number((await readFile(join(folder, "postgres/data/postmaster.pid"), "utf8")).split("\n")[0]);
}

async function gone(pid: number): Promise<void> {
  try {
    for (;;) {
      process.kill(pid, 0);
      await sleep(20);
    }
  } catch {
    return; // No such process.
  }
}

it("the embedded Postgres is one for all who open it at once, and ends with the last of them", async () => {
  const [a, b, c] = await Promise.all([open(), open(), open()]);
  expect(new Set([a.ownerUrl, b.ownerUrl, c.ownerUrl]).size).toBe(1);
  const pid = await postmaster();
  opened.length = 0;
  await a.release();
  await b.release();
  expect(await query(c.ownerUrl, "SELECT 1 AS x")).toEqual([{ x: 1 }]);
  await c.release();
  await gone(pid);
});

it("the embedded Postgres starts again after a SIGKILL", async () => {
  const first = await open();
  await query(first.ownerUrl, "CREATE TABLE kept AS SELECT 7 AS x");
  const pid = await postmaster();
  process.kill(pid, "SIGKILL");
  await gone(pid);
  expect(await query((await open()).ownerUrl, "SELECT x FROM kept")).toEqual([{ x: 7 }]);
});

it.runIf(process.platform === "linux")(
  "the embedded Postgres starts where its lock file names an unrelated process",
  async () => {
    await open();
    const pid = await postmaster();
    process.kill(pid, "SIGKILL");
    await gone(pid);
    // Of the account that Postgres runs as: only such a process keeps it from starting.
    const { uid, gid } = await stat(join(folder, "postgres/data"));
    const unrelated = spawn("sleep", ["600"], process.getuid?.() === 0 ? { uid, gid } : {});
    const lock = join(folder, "postgres/data/postmaster.pid");
    await writeFile(lock, (await readFile(lock, "utf8")).replace(/^\d+/, String(unrelated.pid)));
    expect(await query((await open()).ownerUrl, "SELECT 1 AS x")).toEqual([{ x: 1 }]);
    unrelated.kill();
  },
);
