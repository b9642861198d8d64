// The command waitlist unflag.
import { expect, it } from "vitest";
import { migrate } from "../../server/database/migrate.ts";
import { createMailFixture } from "../support/mail-fixture.ts";
import { runWaitlist } from "../support/waitlist.ts";
import { insertEntries } from "../support/waitlist-fixture.ts";

const fixture = createMailFixture();
const unflag = (...args: string[]) => runWaitlist(fixture.database, ["unflag", ...args]);
const flagged = () => fixture.database.query("SELECT email FROM earlyaccess WHERE unusual_volume ORDER BY email");

const add = (email: string, created_at: string, other = {}) =>
  insertEntries(fixture.database, [
    { name: "Ada", email, company: "Engines", created_at, unusual_volume: true, suspected_spam: false, ...other },
  ]);

async function addLaunchDay(): Promise<void> {
  await add("before@example.com", "2026-01-30T12:00:00Z");
  await add("ada@example.com", "2026-01-31T12:00:00Z");
  await add("bot@example.com", "2026-01-31T13:00:00Z", { suspected_spam: true });
  await add("moved@example.com", "2026-01-31T14:00:00Z", { imported: true });
  await add("gone@example.com", "2026-01-31T15:00:00Z", { status: "left" });
  await add("after@example.com", "2026-02-01T12:00:00Z");
}

it("unflag clears the flag of a day, and the worker sends the missing mails", async () => {
  await addLaunchDay();
  const day = ["--since", "2026-01-31", "--until", "2026-01-31"];
  expect(await fixture.database.query("SELECT FROM graphile_worker.jobs")).toEqual([]);
  expect(await unflag(...day, "--dry-run")).toEqual({
    code: 0,
    stdout: "Would clear the flag of 4 entries.\n",
    stderr: "",
  });
  expect(await flagged()).toHaveLength(6);
  expect(await unflag(...day)).toEqual({
    code: 0,
    stdout: "Cleared the flag of 4 entries. Mails queued: 1.\n",
    stderr: "",
  });
  expect(await flagged()).toEqual([{ email: "after@example.com" }, { email: "before@example.com" }]);
  await fixture.startWorker();
  await fixture.mailed(1);
  await fixture.emptied();
  expect(fixture.server.mails.map(({ to }) => to)).toEqual(["ada@example.com"]);
  expect((await unflag(...day)).stdout).toBe("Cleared the flag of 0 entries. Mails queued: 0.\n");
});

it("unflag clears it without mails too, and needs --since", async () => {
  await migrate({ ownerUrl: fixture.database.ownerUrl, webUrl: fixture.database.webUrl });
  await addLaunchDay();
  expect((await unflag("--since", "2026-01-31")).stdout).toBe("Cleared the flag of 5 entries. Mails queued: 0.\n");
  expect(await unflag()).toMatchObject({ code: 2, stderr: expect.stringContaining("--since") as unknown });
});
