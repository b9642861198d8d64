// Export and import of large lists: how fast, and with how much memory.
import assert from "node:assert/strict";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { DatabaseUrls } from "../../server/database/roles.ts";
import { createFilledDatabase } from "../support/filled-database.ts";
import { findProgram } from "../support/programs.ts";
import { run, type Run } from "../support/run.ts";
import type { Say } from "../support/scenarios.ts";
import { withStack } from "../support/stack.ts";
import { builtWaitlist } from "../support/waitlist.ts";

const million = 1_000_000;
/** In MB: heaps differ by this much, as V8 collects when it likes. The list itself takes 150 MB, its tenth 15 MB. */
const memoryMargin = 64;

/** @param discard sends stdout to /dev/null. */
async function waitlist({ ownerUrl, webUrl }: DatabaseUrls, args: string[], discard = false): Promise<Run> {
  const env = { DATABASE_URL: webUrl, DATABASE_OWNER_URL: ownerUrl };
  const result = await run([process.execPath, builtWaitlist, ...args], env, discard);
  assert.deepEqual([result.code, result.stderr], [0, ""]);
  return result;
}

async function psql(url: string, command: string, discard = false): Promise<number> {
  const { code, seconds } = await run([findProgram("psql"), "-X", "-q", "-c", command, url], {}, discard);
  assert.equal(code, 0, command);
  return seconds;
}

export const exportMillion = (say: Say) =>
  withStack(say, async ({ postgres }) => {
    const list = await createFilledDatabase(postgres, million);
    const tenth = await createFilledDatabase(postgres, million / 10);
    const runs: Record<"csv" | "ndjson" | "copy", number[]> = { csv: [], ndjson: [], copy: [] };
    let peak = 0;
    for (let round = 0; round < 2; round++) {
      for (const format of ["csv", "ndjson"] as const) {
        const { seconds, peakMegabytes } = await waitlist(list, ["export", "--format", format], true);
        runs[format].push(seconds);
        peak = Math.max(peak, peakMegabytes);
      }
      runs.copy.push(await psql(list.ownerUrl, "\\copy earlyaccess TO STDOUT (FORMAT csv, HEADER)", true));
    }
    const tenthPeak = (await waitlist(tenth, ["export"], true)).peakMegabytes;
    // The fastest runs, as other load only slows.
    const [csv, ndjson] = [runs.csv, runs.ndjson].map((all) => Math.min(...runs.copy) / Math.min(...all)) as [
      number,
      number,
    ];
    const seen =
      `CSV at ${csv.toFixed(2)} and NDJSON at ${ndjson.toFixed(2)} of \\copy's rate; ` +
      `memory ${peak.toFixed()} MB, for a tenth ${tenthPeak.toFixed()} MB`;
    // On two cores, the same build reaches from 0.5 to 1.
    assert(Math.min(csv, ndjson) >= 0.4, seen);
    assert(peak < tenthPeak + memoryMargin, seen);
    return seen;
  });

export const importMillion = (say: Say) =>
  withStack(say, async ({ postgres, query, folder }) => {
    const [large, small, copied] = ["large.csv", "small.csv", "copied.csv"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    await writeList(large, million);
    await writeList(small, million / 10);
    const tenth = await waitlist(postgres, ["import", small]);
    assert.match(tenth.stdout, /Imported 100,000\.\n$/);
    await query("TRUNCATE earlyaccess");
    const all = await waitlist(postgres, ["import", large]);
    assert.match(all.stdout, /Imported 1,000,000\.\n$/);
    const [row] = await query("SELECT count(*)::int AS count FROM earlyaccess");
    assert.equal(row?.count, million);
    const again = await waitlist(postgres, ["import", small]);
    assert.match(again.stdout, /100,000 already on the list.*\nImported 0\.\n$/s);
    await psql(postgres.ownerUrl, `\\copy earlyaccess TO '${copied}'`);
    await query("TRUNCATE earlyaccess");
    const rate = (await psql(postgres.ownerUrl, `\\copy earlyaccess FROM '${copied}'`)) / all.seconds;
    const seen =
      `${all.seconds.toFixed(1)} s, ${rate.toFixed(2)} of \\copy's rate; ` +
      `memory ${all.peakMegabytes.toFixed()} MB, for a tenth ${tenth.peakMegabytes.toFixed()} MB`;
    assert(rate >= 0.05, seen);
    assert(all.peakMegabytes < tenth.peakMegabytes + memoryMargin, seen);
    return seen;
  });

async function writeList(path: string, count: number): Promise<void> {
  function* lines() {
    yield "E-Mail;Full name;Organisation\r\n";
    for (let i = 0; i < count; i++) yield `person${i}@example.com;"Ada ""Countess"" ${i}";Engines Ltd\r\n`;
  }
  await pipeline(Readable.from(lines()), createWriteStream(path));
}
