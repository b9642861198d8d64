// The warnings about TRUST_PROXY, from what proxies leave in X-Forwarded-For.
import request from "supertest";
import { expect, it, onTestFinished, vi } from "vitest";
import { createTestApp, noDatabase } from "../../tests/support/app.ts";

it.each<[trustProxy: number, forwardedFor: string | undefined, warning?: string]>([
  [0, undefined],
  [2, undefined], // Health checks of a proxy have no header.
  [
    0,
    "203.0.113.1",
    "TRUST_PROXY is 0, but X-Forwarded-For has 1 entries: behind a proxy, all visitors share one limit",
  ],
  [1, "203.0.113.1"],
  [1, "203.0.113.9, 203.0.113.1"], // A client can add entries.
  [2, "203.0.113.1", "TRUST_PROXY is 2, but X-Forwarded-For has 1 entries: a client can forge its address"],
])(
  "TRUST_PROXY=%i with the header %s is judged, and reported once without an address",
  async (trustProxy, given, warning) => {
    const { app, logged } = await createTestApp(noDatabase, { trustProxy });
    for (let i = 0; i < 2; i++) {
      await request(app)
        .get("/")
        .set(given ? { "X-Forwarded-For": given } : {});
    }
    const warnings = logged()
      .split("\n")
      .filter((line) => line.includes("TRUST_PROXY"));
    expect(warnings).toEqual(
      warning ? [expect.stringContaining(`"msg":"${warning}. Compare with docs/deploy.md, Hosts."`)] : [],
    );
    expect(logged()).not.toContain("203.0.113");
  },
);

it("the first 429 of an hour, of any client, is reported with TRUST_PROXY and the entries of X-Forwarded-For, without an address", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const { app, logged } = await createTestApp(noDatabase, { trustProxy: 1, signupLimit: 1 });
  const post = async (forwardedFor: string) => {
    const sent = request(app).post("/api/earlyaccess").set("X-Forwarded-For", forwardedFor);
    return (await sent.send("{").set("Content-Type", "application/json")).status;
  };
  const visitors = ["203.0.113.1, 198.51.100.7", "203.0.113.2, 198.51.100.7", "198.51.100.8", "198.51.100.8"];
  const statuses: number[] = [];
  for (const forwardedFor of visitors) statuses.push(await post(forwardedFor));
  expect(statuses).toEqual([400, 429, 400, 429]);
  const report =
    "TRUST_PROXY is 1, and X-Forwarded-For has 2 entries at the first 429 of this hour. See docs/incident.md.";
  const reports = () => logged().match(/TRUST_PROXY is [^"]*/g);
  vi.advanceTimersByTime(3_599_999);
  await post("198.51.100.8");
  expect(reports()).toEqual([report]);
  vi.advanceTimersByTime(1);
  await post("198.51.100.8");
  expect(reports()).toEqual([report, report.replace("2", "1")]);
  expect(logged()).not.toMatch(/203\.0|198\.51/);
});
