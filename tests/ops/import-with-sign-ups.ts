// A large import while people sign up, with addresses of its file and with others: it refuses and delays none of them.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openStand, visitor } from "../chaos/stand.ts";
import { assertJoined, createVisitors, type Answer } from "../chaos/visitors.ts";
import type { Say } from "../support/steps.ts";
import { waitlist } from "./commands.ts";

const lines = 200_000;
/** In milliseconds. */
const slowestAnswer = 1_000;
const pauseBetween = 20;

/** @returns what was seen. */
export async function importWithSignUps(say: Say): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "perennial-import-"));
  const stand = await openStand(say);
  try {
    const site = await stand.startSite();
    const visitors = createVisitors(stand);
    assertJoined(await visitors.signUp(site, 50)); // The first sign-ups are slow without an import, too.
    const path = join(folder, "list.csv");
    await writeList(path);
    const imported = new AbortController();
    const importing = waitlist(stand.postgres, ["import", path]).finally(() => imported.abort());
    const pending: Promise<Answer | undefined>[] = [];
    while (!imported.signal.aborted) {
      const listed = String(Math.floor(Math.random() * lines));
      pending.push(visitors.tryToSignUp(site, listed), visitors.tryToSignUp(site, `own.${pending.length}`));
      await sleep(pauseBetween);
    }
    const { code, stdout, stderr } = await importing;
    assert.deepEqual([code, stderr], [0, ""]);
    assert.match(stdout, /\nImported [\d,]+\.\n$/);
    const answers = (await Promise.all(pending)).map((answer) => answer as Answer);
    assertJoined(answers);
    const slowest = Math.round(Math.max(...answers.map(({ ms }) => ms)));
    const seen = `${answers.length} sign-ups, all 201, the slowest in ${slowest} ms; ${await visitors.assertKept()} kept`;
    assert(slowest < slowestAnswer, `a sign-up waited too long: ${seen}`);
    return seen;
  } finally {
    await stand.close();
    await rm(folder, { recursive: true });
  }
}

async function writeList(path: string): Promise<void> {
  const rows = Array.from({ length: lines }, (_, number) => Object.values(visitor(number)).join(","));
  await writeFile(path, `name,email,company\n${rows.join("\n")}\n`);
}
