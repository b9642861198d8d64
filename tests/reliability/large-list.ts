// Import and export of 50,000 entries with long texts: with the memory of a tenth, and while people sign up.
import assert from "node:assert/strict";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { campaignColumns } from "../../server/database/columns.ts";
import { run, type Run, urlsOf, builtWaitlist } from "../support/run.ts";
import {
  type Answer,
  assertConfirmed,
  createVisitors,
  signupBody,
  type Stack,
  type StackScenarios,
} from "../support/stack.ts";

/** The largest list that the product is for. */
const largest = 50_000;
/** MB by which heaps may differ, because V8 chooses when it collects. The texts of the list take 80 MB, those of its tenth 8 MB. */
const memoryMargin = 64;
/** The columns that an entry may have besides those of `signupBody`, each with the longest text: V8 needs two bytes for each of these letters. */
const longColumns = ["job_title", ...campaignColumns];
const longTexts = longColumns.map(() => "ж".repeat(100)).join(",");
/** In milliseconds. */
const answerLimit = 1_000;

export const largeList: StackScenarios = {
  "import 50,000 lines while people sign up, and export them": async (stack) => {
    const path = join(stack.folder, "list.csv");
    await writeList(path, largest / 10);
    const tenth = [await waitlist(stack, ["import", path]), await waitlist(stack, ["export"])];
    await writeList(path, largest);
    const done = new AbortController();
    const importing = waitlist(stack, ["import", path]).finally(() => done.abort());
    const [imported, signups] = await Promise.all([importing, signUpUntil(stack, done.signal)]);
    const all = [imported, await waitlist(stack, ["export"])];
    const [row] = await stack.query("SELECT count(*)::int AS count FROM earlyaccess WHERE email ~ '^ada[.]\\d+@'");
    assert.equal(row?.count, largest);
    const memory = all.map(({ peakMegabytes }, i) => {
      const ofTenth = tenth[i]?.peakMegabytes ?? 0;
      const seen = `${peakMegabytes.toFixed()} MB, for a tenth ${ofTenth.toFixed()} MB`;
      assert(peakMegabytes < ofTenth + memoryMargin, seen);
      return seen;
    });
    return `import in ${all[0]?.seconds.toFixed()} s with ${memory[0]}; ${signups}; export in ${all[1]?.seconds.toFixed()} s with ${memory[1]}`;
  },
};

async function waitlist({ postgres }: Stack, args: string[]): Promise<Run> {
  const result = await run([process.execPath, builtWaitlist, ...args], urlsOf(postgres), {
    discard: args[0] === "export",
    longest: 600,
  });
  assert.deepEqual([result.code, result.stderr], [0, ""]);
  return result;
}

/** Signs up people, with addresses of the list and with others. No sign-up is refused or delayed. */
async function signUpUntil(stack: Stack, signal: AbortSignal): Promise<string> {
  const site = await stack.startSite();
  const visitors = createVisitors(stack);
  const pending: Promise<Answer | undefined>[] = [];
  while (!signal.aborted) {
    const listed = String(Math.floor(Math.random() * largest));
    pending.push(visitors.tryToSignUp(site, listed), visitors.tryToSignUp(site, `own.${pending.length}`));
    await sleep(20);
  }
  const answers = (await Promise.all(pending)).map((answer) => answer as Answer);
  assertConfirmed(answers);
  const slowest = Math.round(Math.max(...answers.map(({ ms }) => ms)));
  assert(slowest < answerLimit, `a sign-up took ${slowest} ms`);
  return `${await visitors.assertStored()} sign-ups meanwhile, the slowest in ${slowest} ms`;
}

async function writeList(path: string, count: number): Promise<void> {
  function* lines() {
    yield `name,email,company,${longColumns.join(",")}\n`;
    for (let i = 0; i < count; i++) yield `${Object.values(signupBody(i)).join(",")},${longTexts}\n`;
  }
  await pipeline(Readable.from(lines()), createWriteStream(path));
}
