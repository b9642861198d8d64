// withDeadline: its signal aborts on time, also after a garbage collection.
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { withDeadline } from "./deadline.ts";

const aborted = (signal: AbortSignal) =>
  new Promise<string>((resolve) => signal.addEventListener("abort", () => resolve("aborted")));

it("aborts after the time, also if garbage is collected before", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const working = withDeadline(100, new AbortController().signal, aborted);
  await sleep(10);
  collectGarbage();
  expect(await working).toBe("aborted");
});

it("aborts with the outer signal, also if that is aborted already", async () => {
  const outer = new AbortController();
  const working = withDeadline(60_000, outer.signal, aborted);
  outer.abort();
  expect(await working).toBe("aborted");
  expect(await withDeadline(60_000, outer.signal, async ({ aborted: isAborted }) => isAborted)).toBe(true);
});
