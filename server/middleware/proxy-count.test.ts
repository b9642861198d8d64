// The warning about TRUST_PROXY, behind real proxies in a row.
import { createServer, request, type IncomingMessage } from "node:http";
import type { Logger } from "pino";
import { expect, it, onTestFinished, vi } from "vitest";
import { createTestApp } from "../../tests/support/app.ts";
import { listen } from "../http/listen.ts";
import { checkProxyCount } from "./proxy-count.ts";

/** Starts a proxy that appends its client's address to X-Forwarded-For, or overwrites the header. Returns its port. */
async function startProxy(port: number, overwrites = false): Promise<number> {
  const proxy = createServer((req, res) => {
    const given = overwrites ? undefined : req.headers["x-forwarded-for"];
    const forwardedFor = [given, req.socket.remoteAddress].filter(Boolean).join(", ");
    const headers = { ...req.headers, "x-forwarded-for": forwardedFor };
    const forwarded = request({ port, headers, method: req.method, path: req.url }, (response) => {
      res.writeHead(response.statusCode ?? 0, response.headers);
      response.pipe(res);
    });
    req.pipe(forwarded);
  });
  onTestFinished(() => void proxy.close());
  return listen(proxy, "127.0.0.1", 0);
}

/** Behind these proxies, the last of which faces the site. Returns how to send requests of several clients, and the warnings. */
async function startSite(trustProxy: number, proxies: ("appends" | "overwrites")[]) {
  const site = await createTestApp(undefined, { trustProxy });
  const server = createServer(site.app);
  onTestFinished(() => void server.close());
  let port = await listen(server, "127.0.0.1", 0);
  for (const kind of proxies.toReversed()) port = await startProxy(port, kind === "overwrites");
  /** Each request is of another client. @param forged X-Forwarded-For as the client sends it. */
  const visit = async (count: number, forged?: string) => {
    for (let i = 1; i <= count; i++) {
      const headers = forged ? { "X-Forwarded-For": forged } : {};
      const response = await new Promise<IncomingMessage>((resolve, reject) =>
        request({ port, localAddress: `127.0.0.${i}`, headers }, resolve)
          .on("error", reject)
          .end(),
      );
      response.resume();
    }
  };
  return {
    visit,
    warnings: () => Array.from(site.logged().matchAll(/"level":40,.*"msg":"(.*)"/g), ([, text]) => text),
  };
}

it.each<[trustProxy: number, proxies: ("appends" | "overwrites")[], warning?: string]>([
  [0, []],
  [2, []], // Health checks of a proxy have no header.
  [0, ["appends"], "TRUST_PROXY \\(0\\) .* \\(1\\)\\. It is too low"],
  [1, ["appends"]],
  [2, ["appends"], "TRUST_PROXY \\(2\\) .* \\(1\\)\\. It is too high"],
  [0, ["appends", "appends"], "TRUST_PROXY \\(0\\) .* \\(2\\)\\. It is too low"],
  [1, ["appends", "appends"], "TRUST_PROXY \\(1\\) .* \\(2\\)\\. It is too low"],
  [2, ["appends", "appends"]],
  [3, ["appends", "appends"], "TRUST_PROXY \\(3\\) .* \\(2\\)\\. It is too high"],
  [2, ["appends", "overwrites"], "TRUST_PROXY \\(2\\) .* \\(1\\)\\. It is too high"],
])("TRUST_PROXY=%i behind %j is judged from 20 requests, and reported once", async (trustProxy, proxies, warning) => {
  const { visit, warnings } = await startSite(trustProxy, proxies);
  await visit(40);
  expect(warnings()).toEqual(warning ? [expect.stringMatching(`^${warning}: .* docs/deploy.md, Hosts\\.$`)] : []);
});

it.each([
  [
    "loopback and private",
    true,
    "127.1.1.1 10.1.1.1 172.16.1.1 172.31.1.1 192.168.1.1 100.64.1.1 ::1 fd00::1 ::ffff:10.1.1.1",
  ],
  ["public", false, "203.0.113.1 11.0.0.1 172.32.1.1 192.169.1.1 100.128.1.1 2001:db8::1 ::ffff:203.0.113.1"],
])("with TRUST_PROXY=0, clients at %s addresses are proxies: %s", (_, isWarned, addresses) => {
  for (const remoteAddress of addresses.split(" ")) {
    const warn = vi.fn<(text: string) => void>();
    const visit = { headers: { "x-forwarded-for": "203.0.113.9" }, socket: { remoteAddress } };
    checkProxyCount(0, { warn } as unknown as Logger)(visit as unknown as IncomingMessage);
    expect(warn.mock.calls.length, remoteAddress).toBe(Number(isWarned));
  }
});

it("one client's forged entries do not make a right TRUST_PROXY look too low after an honest request", async () => {
  const { visit, warnings } = await startSite(1, ["appends"]);
  await visit(3);
  await visit(60, "203.0.113.1, 203.0.113.2");
  expect(warnings()).toEqual([]);
});
