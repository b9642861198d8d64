// A disk that is full, under Postgres' tables and under its log: a small one of their own is mounted for it.
import { execFile } from "node:child_process";
import { mkdtemp, open, rm, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Site } from "../support/site.ts";
import { endure } from "./endure.ts";
import type { Scenario, Stand } from "./scenario.ts";
import { openStand } from "./stand.ts";
import { assertInTime, type Visitors } from "./visitors.ts";

const run = promisify(execFile);
const size = "160m";

export const fullDisk: Scenario[] = [
  {
    name: "the disk is full",
    run: (outer) =>
      onSmallDisk(outer, async (stand, disk) => {
        const site = await stand.startSite();
        return endure(stand, site, {
          begin: async (visitors) => {
            await disk.fill();
            await signUpUntilRefused(visitors, site);
          },
          end: () => disk.free(),
        });
      }),
  },
  {
    name: "the disk is full, and Postgres cannot even write its log",
    run: (outer) =>
      onSmallDisk(outer, async (stand, disk) => {
        const site = await stand.startSite();
        return endure(stand, site, {
          begin: async (visitors) => {
            await disk.fill();
            await stand.query("SELECT pg_switch_wal()"); // The next entry needs a new file, and Postgres panics without.
            await signUpUntilRefused(visitors, site);
          },
          end: async () => {
            await disk.free();
            await stand.postgres.startAgain();
          },
        });
      }),
  },
];

interface Disk {
  fill(): Promise<void>;
  free(): Promise<void>;
}

async function onSmallDisk(outer: Stand, use: (stand: Stand, disk: Disk) => Promise<string>): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "perennial-disk-"));
  await asRoot("mount", "-t", "tmpfs", "-o", `size=${size},mode=1777`, "tmpfs", path);
  try {
    const stand = await openStand((text) => outer.say(text), path);
    try {
      return await use(stand, createDisk(path));
    } finally {
      await stand.close();
    }
  } finally {
    await asRoot("umount", "--lazy", path);
    await rmdir(path);
  }
}

/** @throws Error that says what it takes, where this account may not. */
async function asRoot(...command: [string, ...string[]]): Promise<void> {
  const [file, ...args] = process.getuid?.() === 0 ? command : (["sudo", "-n", ...command] as const);
  await run(file, args).catch((error: Error) => {
    throw new Error(`A small disk takes the right to mount one, as root or by sudo: ${error.message}`);
  });
}

function createDisk(path: string): Disk {
  const ballast = join(path, "ballast");
  return {
    fill: async () => {
      const file = await open(ballast, "w");
      try {
        for (const block of [1 << 20, 4096, 1]) await writeUntilFull((bytes) => file.write(bytes), block);
      } finally {
        await file.close();
      }
    },
    free: () => rm(ballast),
  };
}

async function writeUntilFull(write: (bytes: Buffer) => Promise<unknown>, block: number): Promise<void> {
  const bytes = Buffer.alloc(block);
  for (;;) {
    try {
      await write(bytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOSPC") return;
      throw error;
    }
  }
}

/** The pages that the table has are filled first: crowds, and then the few who find a last gap. */
async function signUpUntilRefused(visitors: Visitors, site: Site): Promise<void> {
  for (const crowd of [200, 1]) {
    for (let refused = 0; refused < 5;) {
      const answers = await visitors.signUp(site, crowd);
      assertInTime(answers);
      refused = answers.every(({ status }) => status === 503) ? refused + 1 : 0;
    }
  }
}
