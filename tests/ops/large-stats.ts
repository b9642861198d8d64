// waitlist stats on a million entries and a flood of a million view rows, each with a source of its own.
import assert from "node:assert/strict";
import { createFilledDatabase } from "../support/filled-database.ts";
import { queryAs } from "../support/query.ts";
import { run } from "../support/run.ts";
import type { Say } from "../support/scenarios.ts";
import { withStack } from "../support/stack.ts";
import { builtWaitlist } from "../support/waitlist.ts";

const million = 1_000_000;
const memoryLimit = 150;

export const countMillion = (say: Say) =>
  withStack(say, async ({ postgres }) => {
    const { ownerUrl, webUrl } = await createFilledDatabase(postgres, million);
    await queryAs(
      ownerUrl,
      `UPDATE earlyaccess SET utm_source = 'source-' || hashtext(email) % 100000, created_at = now() - random() * interval '400 days';
       INSERT INTO earlyaccess_views (day, source, views)
       SELECT current_date - i % 400, 'source-' || i, 20 FROM generate_series(1, ${million}) i`,
    );
    const seen: string[] = [];
    for (const options of [[], ["--html", "-"]]) {
      const command = [process.execPath, builtWaitlist, "stats", ...options] as [string, ...string[]];
      const env = { DATABASE_URL: webUrl, DATABASE_OWNER_URL: ownerUrl };
      const { code, stdout, stderr, seconds, peakMegabytes } = await run(command, env);
      assert.deepEqual([code, stderr], [0, ""]);
      assert.match(stdout, /20,000,000.*1,000,000/s);
      const measured = `${seconds.toFixed(1)} s and ${peakMegabytes.toFixed()} MB`;
      assert(peakMegabytes < memoryLimit, measured);
      seen.push(`stats ${options.join(" ")}: ${measured}, ${stdout.length.toLocaleString("en")} characters`);
    }
    return seen.join("; ");
  });
