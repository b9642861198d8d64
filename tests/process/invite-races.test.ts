// waitlist invite by several processes at once, and by one that is killed.
import { readFile } from "node:fs/promises";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runSite } from "../support/site.ts";
import { killedAfterEach } from "../support/killed-after-each.ts";
import { createWaitlistFixture, holdFunction } from "../support/waitlist-fixture.ts";
import { builtWaitlist } from "../support/waitlist.ts";

const { database, file, waitlist } = createWaitlistFixture();
const started = killedAfterEach();

const countOf = async (condition: string) =>
  (await database.query(`SELECT count(*)::int AS count FROM earlyaccess WHERE ${condition}`))[0]?.count;

async function fill(people: number): Promise<void> {
  await database.query("TRUNCATE earlyaccess");
  await database.query(
    `INSERT INTO earlyaccess (id, name, email, company, created_at)
     SELECT gen_random_uuid(), 'Ada', 'person' || i || '@example.com', 'E', now() - i * interval '1 minute' FROM generate_series(1, $1::int) i`,
    [people],
  );
}

it("ten processes never take the same person, and each file has its whole invitation", async () => {
  await fill(400);
  const files = Array.from({ length: 10 }, (_, i) => file(`race-${i}.csv`));
  const runs = await Promise.all(files.map((path) => waitlist(["invite", "--first", "50", "--out", path])));
  const nobody = "Nobody was invited: no waiting entry matches. Nothing was written.\n";
  for (const { code, stderr } of runs) expect([code, stderr]).toEqual(code === 0 ? [0, ""] : [1, nobody]);
  const lists = await Promise.all(files.map((path) => readFile(path, "utf8").catch(() => "")));
  const addresses = lists.map((list) => list.match(/person\d+@example\.com/g) ?? []);
  expect(new Set(addresses.flat()).size).toBe(400);
  expect(addresses.flat()).toHaveLength(400);
  for (const [i, { stdout }] of runs.entries()) {
    const invitation = / as invitation (\S+?)[.;]/.exec(stdout)?.[1];
    const listed = await database.query("SELECT email FROM earlyaccess WHERE invitation = $1", [invitation]);
    expect(listed.map(({ email }) => email as string).toSorted()).toEqual(addresses[i]?.toSorted());
  }
  expect(await countOf("status = 'invited' AND invitation IS NOT NULL")).toBe(400);
}, 120_000);

describe("a run", () => {
  let holder: pg.Client;

  beforeEach(async () => {
    await fill(100);
    holder = new pg.Client(database.ownerUrl);
    await holder.connect();
    await holder.query("SELECT pg_advisory_lock(42)");
    await database.query(holdFunction);
  });

  afterEach(async () => {
    await holder.end();
    await vi.waitFor(() => database.query("DROP TRIGGER hold ON earlyaccess"), 10_000);
  });

  const activity = (condition: string) =>
    database.query(`SELECT FROM pg_stat_activity WHERE datname = current_database() AND ${condition}`);

  /** Kills the process while the trigger holds its transaction, and then lets the transaction go on. */
  async function killWhileHeld(first: number): Promise<void> {
    const env = { DATABASE_URL: database.webUrl, DATABASE_OWNER_URL: database.ownerUrl };
    const args = ["invite", "--first", `${first}`, "--out", file("killed.csv")];
    const inviting = runSite({ env, command: [process.execPath, builtWaitlist, ...args] });
    started.push(inviting);
    await vi.waitFor(async () => expect(await activity("wait_event = 'PgSleep'")).not.toEqual([]), 20_000);
    await inviting.stop("SIGKILL");
    await holder.query("SELECT pg_advisory_unlock(42)");
    await vi.waitFor(
      async () => expect(await activity("query LIKE '%status = ''invited''%' OR query = 'COMMIT'")).toEqual([]),
      20_000,
    );
  }

  it("that is killed while it marks people leaves an invitation that --undo reverts", async () => {
    await fill(2_500);
    await database.query(`CREATE TRIGGER hold BEFORE UPDATE ON earlyaccess
      FOR EACH ROW WHEN (NEW.email = 'person1000@example.com') EXECUTE FUNCTION hold()`);
    await killWhileHeld(2_500);
    const { stdout } = await waitlist(["invite", "--list"]);
    // Postgres may or may not commit what it was doing for the killed process.
    expect(stdout).toMatch(/^\S+ {2}([12],000) people, \1 still invited, 0 joined\n$/);
    const [invitation = ""] = stdout.split(" ");
    expect(await waitlist(["invite", "--undo", invitation])).toMatchObject({ code: 0 });
    expect(await countOf("status <> 'waiting' OR invitation IS NOT NULL")).toBe(0);
  });
});
