// The warning about TRUST_PROXY, from what proxies in a row leave in X-Forwarded-For.
import type { IncomingMessage } from "node:http";
import type { Logger } from "pino";
import { expect, it, vi } from "vitest";
import { checkProxyCount } from "./request-log.ts";

/** Returns a function that sends requests of clients, and one that reads the warnings. */
function start(trustProxy: number) {
  const warn = vi.fn<(...words: unknown[]) => void>();
  const check = checkProxyCount(trustProxy, { warn } as unknown as Logger);
  /** @param forwardedFor as it reaches the site. */
  const visit = (count: number, forwardedFor?: string, remoteAddress = "127.0.0.1") => {
    const headers = forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor };
    for (let i = 0; i < count; i++) check({ headers, socket: { remoteAddress } } as unknown as IncomingMessage);
  };
  return { visit, warnings: () => warn.mock.calls };
}

const [client, proxy] = ["203.0.113.1", "203.0.113.2"];

it.each<[trustProxy: number, forwardedFor: string | undefined, warning?: string]>([
  [0, undefined],
  [2, undefined], // Health checks of a proxy have no header.
  [0, client, "TRUST_PROXY \\(0\\) .* \\(1\\)\\. It is too low"],
  [1, client],
  [2, client, "TRUST_PROXY \\(2\\) .* \\(1\\)\\. It is too high"],
  [0, `${client}, ${proxy}`, "TRUST_PROXY \\(0\\) .* \\(2\\)\\. It is too low"],
  [1, `${client}, ${proxy}`, "TRUST_PROXY \\(1\\) .* \\(2\\)\\. It is too low"],
  [2, `${client}, ${proxy}`],
  [3, `${client}, ${proxy}`, "TRUST_PROXY \\(3\\) .* \\(2\\)\\. It is too high"],
])("TRUST_PROXY=%i with the header %s is judged from 20 requests, and reported once", (trustProxy, given, warning) => {
  const { visit, warnings } = start(trustProxy);
  visit(trustProxy > 0 ? 19 : 0, given);
  if (!warning?.endsWith("high")) expect(warnings()).toEqual([]);
  visit(21, given);
  // The warning has one argument: it logs neither the client nor a proxy.
  expect(warnings()).toEqual(
    warning ? [[expect.stringMatching(`^${warning}: [^.]*\\. Compare .* docs/deploy.md, Hosts\\.$`)]] : [],
  );
  expect(String(warnings())).not.toMatch(/203\.0\.113|127\.0/);
});

it("one client's forged entries do not make a right TRUST_PROXY look too low after an honest request", () => {
  const { visit, warnings } = start(1);
  visit(3, client);
  visit(60, `203.0.113.1, 203.0.113.2, ${client}`);
  expect(warnings()).toEqual([]);
});

it.each([
  ["private", 1, "127.1.1.1 10.1.1.1 172.16.1.1 172.31.1.1 192.168.1.1 100.64.1.1 ::1 fd00::1 ::ffff:10.1.1.1"],
  ["public", 0, "203.0.113.1 11.0.0.1 172.32.1.1 192.169.1.1 100.128.1.1 2001:db8::1 ::ffff:203.0.113.1"],
])("with TRUST_PROXY=0, clients at %s addresses cause %i warning", (_, count, addresses) => {
  for (const address of addresses.split(" ")) {
    const { visit, warnings } = start(0);
    visit(1, client, address);
    expect(warnings(), address).toHaveLength(count);
  }
});
