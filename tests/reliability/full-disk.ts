// A full disk under Postgres: a tmpfs of its own is mounted for it.
import { execFile } from "node:child_process";
import { mkdtemp, open, rm, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Site } from "../support/site.ts";
import { withStack, type Stack, type StackScenarios } from "../support/stack.ts";
import { endure } from "./endure.ts";
import { assertAnswered, countStatus, type Visitors } from "../support/visitors.ts";

const run = promisify(execFile);

export const fullDisk: StackScenarios = {
  "Postgres' disk is full": (outer) =>
    onSmallDisk(outer, (stack, path) =>
      endure(stack, {
        begin: async (visitors, site) => {
          await fill(path);
          await signUpUntilRefused(visitors, site);
        },
        end: () => rm(join(path, "ballast")),
      }),
    ),
};

async function onSmallDisk(outer: Stack, use: (stack: Stack, path: string) => Promise<string>): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "perennial-disk-"));
  await asRoot("mount", "-t", "tmpfs", "-o", "size=160m,mode=1777", "tmpfs", path);
  try {
    return await withStack(outer.say, (stack) => use(stack, path), path);
  } finally {
    await asRoot("umount", "--lazy", path);
    await rmdir(path);
  }
}

async function asRoot(...command: [string, ...string[]]): Promise<void> {
  const [file, ...args] = process.getuid?.() === 0 ? command : (["sudo", "-n", ...command] as const);
  await run(file, args);
}

/** Writes a file until no byte is free. */
async function fill(path: string): Promise<void> {
  const file = await open(join(path, "ballast"), "w");
  try {
    for (const size of [1 << 20, 4096, 1]) await writeUntilFull((bytes) => file.write(bytes), Buffer.alloc(size));
  } finally {
    await file.close();
  }
}

async function writeUntilFull(write: (bytes: Buffer) => Promise<unknown>, bytes: Buffer): Promise<void> {
  try {
    for (;;) await write(bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
}

/** Fills the pages that the table has: with crowds first, then with single sign-ups that fit into a last gap. */
async function signUpUntilRefused(visitors: Visitors, site: Site): Promise<void> {
  for (const crowd of [200, 1]) {
    for (let refused = 0; refused < 5;) {
      const answers = await visitors.signUp(site, crowd);
      assertAnswered(answers);
      refused = countStatus(answers, 503) === crowd ? refused + 1 : 0;
    }
  }
}
