// A mail server that refuses, hangs or is down: no sign-up fails, no mail is lost, and nobody gets two a day.
import { expect, it } from "vitest";
import { until } from "../support/run.ts";
import { createMailFixture } from "../support/worker.ts";
import { openMailServer } from "../support/mail-server.ts";

const fixture = createMailFixture();
const { signUp, startWorker, mailed, emptied, failed } = fixture;
const entries = () => fixture.database.query("SELECT mail_refusal, mailed_at IS NOT NULL AS mailed FROM earlyaccess");

it("a mail that the server refuses permanently is recorded, and not retried", async () => {
  fixture.server.fail("data", "554 5.7.1 Nobody is");
  const worker = await startWorker();
  expect(await signUp("ada@example.com")).toBe(201);
  await until("the refusal is logged", () => worker.log().includes("554 5.7.1 to DATA"));
  await emptied();
  expect(await entries()).toEqual([{ mail_refusal: "554 5.7.1", mailed: false }]);
  expect(fixture.server.recipients).toHaveLength(1);
});

it("a mail that the server does not confirm is not sent again on that day", async () => {
  fixture.server.fail("data", "drop");
  await startWorker();
  expect(await signUp("ada@example.com")).toBe(201);
  expect(await failed()).toMatch(/^Mail server error: \w+$/);
  fixture.server.fail();
  await fixture.hasten();
  await fixture.waitsUntilTomorrow();
  expect(fixture.server.mails).toHaveLength(1);
  await fixture.passDay();
  await mailed(2);
  await emptied();
});

it("a mail that waits for a mail server goes out when it is back, and counts once for the pace", async () => {
  const port = Number(new URL(fixture.server.url).port);
  await fixture.server.close();
  await startWorker();
  expect(await signUp("ada@example.com")).toBe(201);
  expect(await failed()).toBe("Mail server error: ECONNREFUSED");
  // graphile-worker makes these attempts within four days.
  expect(await fixture.database.query("SELECT max_attempts FROM graphile_worker.jobs")).toEqual([{ max_attempts: 25 }]);
  fixture.server = await openMailServer({ port });
  await fixture.hasten();
  await mailed(1);
  await emptied();
  expect(await fixture.database.query("SELECT jobs FROM earlyaccess_mail_passes")).toEqual([{ jobs: 1 }]); // Not one an attempt.
});
