// A clock that a test can turn: the wall clock of a site's process, while time itself runs on as it does.
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Clock {
  /** For the process whose clock it is. */
  env: Record<string, string>;
  /** @param offset to the true time, in milliseconds. */
  shift(offset: number): Promise<void>;
  remove(): Promise<void>;
}

/** Loaded before the site: timers and performance.now() are left alone, as the system's steady clock never jumps. */
const preload = (file: string) => `
import { readFileSync } from "node:fs";
const TrueDate = Date;
const now = () => TrueDate.now() + Number(readFileSync(${JSON.stringify(file)}, "utf8"));
globalThis.Date = class Date extends TrueDate {
  constructor(...given) {
    if (given.length > 0) super(...given);
    else super(now());
  }
  static now = now;
};`;

export async function createClock(): Promise<Clock> {
  const folder = await mkdtemp(join(tmpdir(), "perennial-clock-"));
  const file = join(folder, "offset");
  await writeFile(file, "0");
  return {
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preload(file))}` },
    shift: async (offset) => {
      await writeFile(`${file}.new`, `${offset}`);
      await rename(`${file}.new`, file); // Whole at any moment.
    },
    remove: () => rm(folder, { recursive: true }),
  };
}
