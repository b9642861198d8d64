// Export and import of large lists: how fast, and with how much memory.
import assert from "node:assert/strict";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import pg from "pg";
import { migrate, type DatabaseUrls } from "../../server/database/migrate.ts";
import { findProgram } from "../bench/processes.ts";
import { createFilledDatabase } from "../bench/signups.ts";
import { takeTurns } from "../bench/statistics.ts";
import { startPostgres } from "../support/postgres.ts";
import { run } from "../support/run.ts";
import { waitlist, watch } from "./commands.ts";
import type { Step } from "../support/steps.ts";

const million = 1_000_000;
/** In MB: a heap is collected when it likes. The list itself has 150 MB, its tenth 15. */
const memoryNoise = 64;

const needsPsql = "This step needs psql, Debian's package postgresql-client.";

export const largeListSteps: Step[] = [
  { name: "export a million entries against psql \\copy, and a tenth of them", run: exportMillion },
  { name: "import a million lines against psql \\copy, and a tenth of them, with its progress", run: importMillion },
];

async function exportMillion(): Promise<string> {
  const psql = findProgram("psql");
  if (!psql) throw new Error(needsPsql);
  const postgres = await startPostgres();
  try {
    const list = await createFilledDatabase(postgres, million);
    const tenth = await createFilledDatabase(postgres, million / 10);
    const peaks: number[] = [];
    const ours = async (...options: string[]) => {
      const exported = await waitlist(list, ["export", ...options], true);
      assert.deepEqual([exported.code, exported.stderr], [0, ""]);
      peaks.push(exported.peakMegabytes);
      return million / exported.seconds;
    };
    const rates = await takeTurns(
      4,
      { ours, json: () => ours("--format", "ndjson"), copy: () => copyRate(psql, list.ownerUrl) },
      () => undefined,
    );
    const small = await waitlist(tenth, ["export"], true);
    const [peak, smallPeak] = [Math.max(...peaks), small.peakMegabytes];
    // The fastest runs: other load on the machine only slows.
    const [csv, json] = [rates.ours, rates.json].map((all) => Math.max(...all) / Math.max(...rates.copy)) as [
      number,
      number,
    ];
    const seen = `CSV ${csv.toFixed(2)} and JSON ${json.toFixed(2)} of \\copy's rate; ${peak.toFixed()} MB, a tenth ${smallPeak.toFixed()} MB`;
    // On two cores, the same build takes from 0.5 to 1.
    assert(Math.min(csv, json) >= 0.4, `much slower than \\copy: ${seen}`);
    assert(peak < smallPeak + memoryNoise, `memory grows with the list: ${seen}`);
    return seen;
  } finally {
    await postgres.release();
  }
}

async function copyRate(psql: string, url: string): Promise<number> {
  const command = "\\copy earlyaccess TO STDOUT (FORMAT csv, HEADER)";
  const { code, seconds } = await run([psql, "-X", "-q", "-c", command, url], {}, true);
  assert.equal(code, 0);
  return million / seconds;
}

async function importMillion(): Promise<string> {
  const psql = findProgram("psql");
  if (!psql) throw new Error(needsPsql);
  const folder = await mkdtemp(join(tmpdir(), "perennial-import-"));
  const postgres = await startPostgres();
  try {
    await migrate(postgres);
    const [large, small, copied] = ["large.csv", "small.csv", "copied.csv"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    await writeList(large, million);
    await writeList(small, million / 10);
    const copy = (what: string) => run([psql, "-X", "-q", "-c", what, postgres.ownerUrl], {});
    const tenth = await waitlist(postgres, ["import", small]);
    assert.match(tenth.stdout, /Imported 100,000\.\n$/);
    const bar = await watch(postgres, ["import", small, "--dry-run"]);
    assert.match(bar, /Check █+░* [1-9]\d* % of [\d,]+/);
    await copy("TRUNCATE earlyaccess");
    const first = await waitlist(postgres, ["import", large]);
    assert.deepEqual([first.code, first.stderr], [0, ""]);
    assert.match(first.stdout, /Imported 1,000,000\.\n$/);
    assert.equal(await countEntries(postgres), million);
    const second = await waitlist(postgres, ["import", small]);
    assert.match(second.stdout, /100,000 already on the list.*\nImported 0\.\n$/s);
    await copy(`\\copy earlyaccess TO '${copied}'`);
    await copy("TRUNCATE earlyaccess");
    const { code, seconds } = await copy(`\\copy earlyaccess FROM '${copied}'`);
    assert.equal(code, 0);
    const rate = seconds / first.seconds;
    const seen =
      `${first.seconds.toFixed(1)} s, ${rate.toFixed(2)} of \\copy's rate; ` +
      `${first.peakMegabytes.toFixed()} MB, a tenth ${tenth.peakMegabytes.toFixed()} MB`;
    assert(rate >= 0.05, `slower than a twentieth of \\copy: ${seen}`);
    assert(first.peakMegabytes < tenth.peakMegabytes + memoryNoise, `memory grows with the list: ${seen}`);
    return seen;
  } finally {
    await postgres.release();
    await rm(folder, { recursive: true });
  }
}

async function writeList(path: string, lines: number): Promise<void> {
  const file = createWriteStream(path);
  file.write("E-Mail;Full name;Organisation\r\n");
  for (let i = 0; i < lines; i++) {
    if (!file.write(`person${i}@example.com;"Ada ""Countess"" ${i}";Engines Ltd\r\n`)) {
      await once(file, "drain");
    }
  }
  file.end();
  await finished(file);
}

async function countEntries({ ownerUrl }: DatabaseUrls): Promise<number> {
  const client = new pg.Client(ownerUrl);
  await client.connect();
  const { rows } = await client.query("SELECT count(*)::int AS entries FROM earlyaccess");
  await client.end();
  return rows[0].entries as number;
}
