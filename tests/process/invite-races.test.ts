// waitlist invite by several processes at once, and by one that is killed.
import { readFile } from "node:fs/promises";
import { expect, it, vi } from "vitest";
import { withClient } from "../support/postgres.ts";
import { runSite, urlsOf, until, builtWaitlist, runBuiltWaitlist } from "../support/run.ts";
import { createWaitlistFixture, holdFunction } from "../support/waitlist-fixture.ts";

const { database, file, waitlist, addPeople } = await createWaitlistFixture();

it("ten invite processes never take the same person, and each file has its whole invitation", async () => {
  await addPeople(400);
  const files = Array.from({ length: 10 }, (_, i) => file(`race-${i}.csv`));
  const runs = await withClient(database.ownerUrl, async (holder) => {
    await holder.query("BEGIN; LOCK TABLE earlyaccess IN ACCESS EXCLUSIVE MODE");
    const started = files.map((path) => runBuiltWaitlist(database, ["invite", "--first", "50", "--out", path]));
    const waiting = "SELECT FROM pg_locks WHERE relation = 'earlyaccess'::regclass AND NOT granted";
    await until("all ten wait for the table", async () => (await holder.query(waiting)).rowCount === 10, 60);
    await holder.query("COMMIT");
    return Promise.all(started);
  });
  const lists = await Promise.all(files.map((path) => readFile(path, "utf8").catch(() => "")));
  const emails = lists.map((list) => list.match(/person\d+@example\.com/g) ?? []);
  expect(emails.flat()).toHaveLength(400);
  expect(new Set(emails.flat()).size).toBe(400);
  for (const [i, { stdout }] of runs.entries()) {
    const invitation = / as invitation (\S+?)[.;]/.exec(stdout)?.[1];
    const sql = "SELECT email FROM earlyaccess WHERE status = 'invited' AND invitation = $1";
    const listed = await database.query(sql, [invitation]);
    expect(listed.map(({ email }) => email as string).toSorted()).toEqual(emails[i]?.toSorted());
  }
}, 120_000);

it("an invite run that is killed while it marks people leaves an invitation that --undo reverts", async () => {
  await database.query("TRUNCATE earlyaccess");
  await addPeople(2_500);
  await database.query(holdFunction);
  await database.query(`CREATE TRIGGER hold BEFORE UPDATE ON earlyaccess
    FOR EACH ROW WHEN (NEW.email = 'person1500@example.com') EXECUTE FUNCTION hold()`);
  const waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'";
  await withClient(database.ownerUrl, async (holder) => {
    await holder.query("SELECT pg_advisory_lock(42)");
    const args = ["invite", "--first", "2500", "--out", file("killed.csv")];
    const inviting = runSite({ env: urlsOf(database), command: [process.execPath, builtWaitlist, ...args] });
    await until("the trigger holds the transaction", async () => (await database.query(waiting))[0]);
    await inviting.stop("SIGKILL");
  });
  await vi.waitFor(() => database.query("DROP TRIGGER hold ON earlyaccess"), 20_000);
  const { stdout } = await waitlist(["invite", "--list"]);
  // Postgres may or may not commit what it was doing for the killed process.
  expect(stdout).toMatch(/^\S+ {2}([12],000) people, \1 still invited, 0 joined\n$/);
  const [invitation = ""] = stdout.split(" ");
  expect(await waitlist(["invite", "--undo", invitation])).toMatchObject({ code: 0 });
  const changed = "SELECT FROM earlyaccess WHERE status <> 'waiting' OR invitation IS NOT NULL";
  expect(await database.query(changed)).toEqual([]);
});
