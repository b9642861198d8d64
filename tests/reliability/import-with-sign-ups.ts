// A large import while people sign up, with addresses of its file and with others: no sign-up is refused or delayed.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { assertConfirmed, createVisitors, type Answer } from "../support/visitors.ts";
import type { Say } from "../support/scenarios.ts";
import { signupBody, withStack } from "../support/stack.ts";
import { runBuiltWaitlist } from "../support/waitlist.ts";

const lines = 200_000;
/** In milliseconds. */
const answerLimit = 1_000;

export const importWithSignUps = (say: Say) =>
  withStack(say, async (stack) => {
    const site = await stack.startSite();
    const visitors = createVisitors(stack);
    assertConfirmed(await visitors.signUp(site, 50)); // Warm-up.
    const path = join(stack.folder, "list.csv");
    const rows = Array.from({ length: lines }, (_, number) => Object.values(signupBody(number)).join(","));
    await writeFile(path, `name,email,company\n${rows.join("\n")}\n`);
    const done = new AbortController();
    const importing = runBuiltWaitlist(stack.postgres, ["import", path]).finally(() => done.abort());
    const pending: Promise<Answer | undefined>[] = [];
    while (!done.signal.aborted) {
      const listed = String(Math.floor(Math.random() * lines));
      pending.push(visitors.tryToSignUp(site, listed), visitors.tryToSignUp(site, `own.${pending.length}`));
      await sleep(20);
    }
    const { code, stdout, stderr } = await importing;
    assert.deepEqual([code, stderr], [0, ""]);
    assert.match(stdout, /\nImported [\d,]+\.\n$/);
    const answers = (await Promise.all(pending)).map((answer) => answer as Answer);
    assertConfirmed(answers);
    const slowest = Math.round(Math.max(...answers.map(({ ms }) => ms)));
    assert(slowest < answerLimit, `a sign-up took ${slowest} ms`);
    const stored = await visitors.assertStored();
    return `${answers.length} sign-ups confirmed, the slowest in ${slowest} ms; ${stored} addresses stored once`;
  });
