// Invitation of many people from a large list, and its statistics: everybody once, and with bounded memory.
import assert from "node:assert/strict";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { DatabaseUrls } from "../../server/database/roles.ts";
import { createFilledDatabase } from "../support/filled-database.ts";
import { queryAs } from "../support/query.ts";
import type { Say } from "../support/scenarios.ts";
import { withStack } from "../support/stack.ts";
import { waitlist } from "./large-list.ts";

const million = 1_000_000;
const invited = 100_000;
/** In MB: the list itself has 6 MB. */
const memoryLimit = 175;

export const inviteMany = (say: Say) =>
  withStack(say, async ({ postgres, folder }) => {
    const database = await createFilledDatabase(postgres, million);
    const invite = (people: number) =>
      waitlist(database, ["invite", "--first", `${people}`, "--out", join(folder, `${people}.csv`)]);
    const few = await invite(100);
    const many = await invite(invited);
    const addresses = new Set([
      ...(await readAddresses(join(folder, "100.csv"))),
      ...(await readAddresses(join(folder, `${invited}.csv`))),
    ]);
    assert.equal(addresses.size, invited + 100);
    const [row] = await queryAs(
      database.ownerUrl,
      `SELECT (count(*) FILTER (WHERE status = 'invited'))::int AS invited, count(DISTINCT invitation)::int AS invitations,
              (SELECT count(*)::int FROM earlyaccess_status_changes) AS changes FROM earlyaccess`,
    );
    assert.deepEqual(row, { invited: invited + 100, invitations: 2, changes: invited + 100 });
    const seen =
      `100 people in ${few.seconds.toFixed(1)} s, 100,000 in ${many.seconds.toFixed(1)} s; ` +
      `memory ${few.peakMegabytes.toFixed()} and ${many.peakMegabytes.toFixed()} MB`;
    assert(many.peakMegabytes < memoryLimit, seen);
    return `${seen}; ${await countAll(database)}`;
  });

/** Each view is from a source of its own, as after a flood. */
async function countAll(database: DatabaseUrls): Promise<string> {
  await queryAs(
    database.ownerUrl,
    `INSERT INTO earlyaccess_views (day, source, views)
     SELECT current_date - i % 400, 'source-' || i, 20 FROM generate_series(1, ${million}) i`,
  );
  const { stdout, seconds, peakMegabytes } = await waitlist(database, ["stats", "--html", "-"]);
  assert.match(stdout, /<dd>20,000,000<.*<dd>1,000,000<.*waiting<.*<td>899,900<.*invited<.*<td>100,100</s);
  const seen = `stats in ${seconds.toFixed(1)} s with ${peakMegabytes.toFixed()} MB`;
  assert(peakMegabytes < memoryLimit, seen);
  return seen;
}

/** Every line has another address. */
async function readAddresses(path: string): Promise<string[]> {
  const addresses = [];
  for await (const line of createInterface(createReadStream(path))) addresses.push(...(line.match(/person\d+@/) ?? []));
  return addresses;
}
