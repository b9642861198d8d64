// A mail server that refuses, hangs or is away: no sign-up fails, no mail is lost, and nobody gets two on a day.
import { describe, expect, it } from "vitest";
import { createMailFixture } from "../support/mail-fixture.ts";
import { openMailServer } from "../support/mail-server.ts";
import { until } from "../support/until.ts";
import type { Site } from "../support/site.ts";

const fixture = createMailFixture();
const { signUp, startWorker, mailed, emptied, failed } = fixture;
const entries = () => fixture.database.query("SELECT mail_refusal, mailed_at IS NOT NULL AS mailed FROM earlyaccess");

/** Neither the log nor the queue may hold the address, which the server's replies repeat. */
async function expectNoAddress(worker: Site): Promise<void> {
  const jobs = await fixture.database.query("SELECT row_to_json(j)::text AS job FROM graphile_worker._private_jobs j");
  expect(`${worker.stdout()}${worker.stderr()}${JSON.stringify(jobs)}`).not.toMatch(/\bada\b|lovelace|@example|%40/i);
}

describe("the worker tries again after", () => {
  it.each([
    ["greylisting", "recipient", "450 4.2.0", "Mail server error: 450 4.2.0 to RCPT TO"],
    ["452 to the message", "data", "452 4.2.2", "Mail server error: 452 4.2.2 to DATA"],
    ["550 to the sender", "sender", "550 5.7.1", "Mail server error: 550 5.7.1 to MAIL FROM"],
    ["554 to the connection", "connect", "554 5.3.2", "Mail server error: 554 5.3.2"],
  ] as const)("%s", async (_, step, code, fault) => {
    fixture.server.fail(step, `${code} I do not like`);
    const worker = await startWorker();
    expect(await signUp("ada@example.com")).toBe(201);
    expect(await failed()).toBe(fault);
    expect(await entries()).toEqual([{ mail_refusal: null, mailed: false }]);
    await expectNoAddress(worker);
    fixture.server.fail();
    await fixture.hasten();
    await until("the mail is accepted", () => fixture.server.mails.at(-1)?.accepted);
    await emptied();
    expect(await entries()).toEqual([{ mail_refusal: null, mailed: true }]);
  });

  it("silence instead of a greeting", async () => {
    fixture.server.fail("connect", "hang");
    await startWorker();
    expect(await signUp("ada@example.com")).toBe(201);
    expect(await failed()).toBe("Mail server error: GREETING_TIMEOUT");
    fixture.server.fail();
    await fixture.hasten();
    await mailed(1);
    await emptied();
  });
});

describe("the worker records a permanent refusal of", () => {
  it.each([
    ["the recipient", "recipient", "550 5.1.1", "550 5.1.1 to RCPT TO"],
    ["the message", "data", "554 5.7.1", "554 5.7.1 to DATA"],
    ["the recipient without an enhanced code", "recipient", "550", "550 to RCPT TO"],
  ] as const)("%s, and does not try again", async (_, step, code, fault) => {
    fixture.server.fail(step, `${code} Nobody is`);
    const worker = await startWorker();
    expect(await signUp("ada@example.com")).toBe(201);
    await until("the refusal is logged", () => worker.stdout().includes(fault));
    await emptied();
    expect(await entries()).toEqual([{ mail_refusal: code, mailed: false }]);
    expect(fixture.server.recipients).toHaveLength(1);
    await expectNoAddress(worker);
  });
});

it("is not sent again on the day on which the server did not confirm it", async () => {
  fixture.server.fail("data", "hang");
  const worker = await startWorker();
  expect(await signUp("ada@example.com")).toBe(201);
  expect(await failed()).toBe("Mail server error: SOCKET_TIMEOUT");
  await expectNoAddress(worker);
  fixture.server.fail();
  await fixture.waitsUntilTomorrow();
  expect(fixture.server.mails).toHaveLength(1);
  await fixture.passDay();
  await mailed(2);
  await emptied();
});

it("ends a mail under way when the worker stops, and does not send it again on that day", async () => {
  fixture.server.fail("data", "hang");
  const worker = await startWorker();
  expect(await signUp("ada@example.com")).toBe(201);
  await mailed(1);
  expect(await worker.stop()).toBe(0);
  expect(worker.stderr()).toBe("");
  fixture.server.fail();
  await startWorker();
  await fixture.hasten();
  await fixture.waitsUntilTomorrow();
  expect(fixture.server.mails).toHaveLength(1);
});

it("goes out when a server that was away is back", async () => {
  const { url } = fixture.server;
  await fixture.server.close();
  await startWorker();
  expect(await signUp("ada@example.com")).toBe(201);
  expect(await failed()).toBe("Mail server error: ECONNREFUSED");
  expect(await signUp("bob@example.com")).toBe(201);
  fixture.server = await openMailServer({ port: Number(new URL(url).port) });
  await fixture.hasten();
  await mailed(2);
  await emptied();
  expect(fixture.server.mails.map(({ to }) => to).toSorted()).toEqual(["ada@example.com", "bob@example.com"]);
});
