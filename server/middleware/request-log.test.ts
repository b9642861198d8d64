// The warning about TRUST_PROXY, from what proxies leave in X-Forwarded-For.
import request from "supertest";
import { expect, it } from "vitest";
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
