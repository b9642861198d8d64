// Requests built to be expensive: none occupies the event loop for long enough to affect other visitors.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { Site } from "../support/site.ts";
import type { StackScenarios } from "../support/stack.ts";
import { startVisits } from "../support/visitors.ts";

/** In milliseconds of processor time per request, which the load of other processes does not change. */
const budget = 50;
const attempts = 3;

export const expensiveRequests: StackScenarios = {
  "single requests built to be expensive": async (stack) => {
    const costs: [ms: number, name: string][] = [];
    const visits: string[] = [];
    for (const [limit, suffix] of [
      ["1000000", ""],
      ["1", ", above the limit"],
    ] as const) {
      const site = await stack.startSite({ SIGNUP_LIMIT: limit });
      const stopVisits = startVisits(site);
      for (const [name, bytes] of requests) {
        const measured: number[] = [];
        for (let i = 0; i < attempts; i++) measured.push(await measureCost(site, bytes));
        // The minimum, as visits and garbage collection add to the others.
        costs.push([Math.min(...measured), name + suffix]);
      }
      visits.push(await stopVisits());
    }
    const [most = [0, ""], next = [0, ""]] = costs.toSorted(([a], [b]) => b - a);
    assert(most[0] < budget, `"${most[1]}" takes ${most[0].toFixed()} ms`);
    const shown = [most, next].map(([ms, name]) => `${ms.toFixed(1)} ms (${name})`).join(", ");
    return `${costs.length} kinds, the most expensive ${shown} of processor time; ${visits.join(", ")}`;
  },
};

/** Sends the request on a connection of its own. Returns the main thread's processor time until shortly after the response, in milliseconds. */
async function measureCost(site: Site, bytes: Buffer): Promise<number> {
  const socket = connect(Number(new URL(site.url).port), "127.0.0.1");
  await once(socket, "connect");
  socket.on("error", () => undefined); // The site closes a connection whose body is too long.
  const before = mainThreadTime(site);
  socket.write(bytes);
  await Promise.race([once(socket, "data"), once(socket, "close")]);
  await sleep(20);
  const after = mainThreadTime(site);
  socket.destroy();
  return after - before;
}

function mainThreadTime({ process: { pid } }: Site): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
}

const json = "Content-Type: application/json\r\n";
const form = "Content-Type: application/x-www-form-urlencoded\r\n";
const html = "Accept: text/html\r\nAccept-Encoding: br\r\n";

function request(name: string, line: string, headers = "", body: Buffer | string = ""): [string, Buffer] {
  const length = line.startsWith("POST") ? `Content-Length: ${Buffer.byteLength(body)}\r\n` : "";
  const head = `${line} HTTP/1.1\r\nHost: localhost\r\n${headers}${length}\r\n`;
  return [name, Buffer.concat([Buffer.from(head, "latin1"), Buffer.from(body)])];
}

const post = (name: string, headers: string, body: Buffer | string) =>
  request(name, "POST /api/earlyaccess", headers, body);
const repeatedKeys = "a&".repeat(30_000);

const entry = (more: object) => JSON.stringify({ name: "Ada", email: "a@b.co", company: "C", ...more });

/** By name. */
const requests: [string, Buffer][] = [
  request("GET of the form's address", "GET /api/earlyaccess", html),
  request("Accept-Encoding of 15 KB", "GET /", `Accept-Encoding: ${"a,".repeat(7_500)}br\r\n`),
  request("Accept of 15 KB", "GET /api/earlyaccess", `Accept: ${"a/b,".repeat(3_700)}text/html\r\n`),
  request("If-None-Match of 15 KB", "GET /", `If-None-Match: ${'"a",'.repeat(3_700)}"b"\r\n`),
  request("Range of 15 KB", "GET /favicon.svg", `Range: bytes=${"0-,".repeat(4_900)}0-\r\n`),
  request("a query of 15 KB", `GET /?${"joine&".repeat(2_500)}`, "Accept-Encoding: br\r\n"),
  request("a path of 15 KB", `GET ${"/".repeat(15_000)}`, "Accept-Encoding: br\r\n"),
  request(
    "a whole address with an international host",
    `GET http://${Array.from({ length: 220 }, (_, i) => encodeURIComponent(String.fromCharCode(0x4e_00 + i))).join("")}/`,
  ),
  request("an unknown API of 15 KB", `GET /api/${"a/".repeat(7_500)}`),
  request("/readyz with a query of 15 KB", `GET /readyz?${"a&".repeat(7_500)}`),
  request("a whole address of 15 KB", `GET http://localhost/${"a/".repeat(7_500)}`, "Accept-Encoding: br\r\n"),
  request("1,900 headers", "GET /", "a:b\r\n".repeat(1_900)),
  post("30,000 keys", html + form, repeatedKeys),
  post("30,000 keys as brotli", `${html}${form}Content-Encoding: br\r\n`, brotliCompressSync(repeatedKeys)),
  post("8,000 keys", html + form, repeatedKeys.slice(0, 16_000)),
  post("one key 8,000 times", html + form, "name=&".repeat(2_600)),
  post("10 MB as gzip", `${json}Content-Encoding: gzip\r\n`, gzipSync(Buffer.alloc(10_000_000, "a"))),
  post("1 MB", json, "a".repeat(1_000_000)),
  post("16 KB of quotes", html + form, `name=${'"'.repeat(16_000)}`),
  post("16 KB of percent signs", html + form, "%".repeat(16_000)),
  post("JSON, 16,000 levels deep", json, "[".repeat(16_000)),
  post("an object, 2,500 levels deep", json, '{"a":'.repeat(2_500) + "1" + "}".repeat(2_500)),
  post("a number of 16,000 digits", json, entry({ name: 0 }).replace("0", "1".repeat(16_000))),
  post("an address of 16,000 dots", json, entry({ email: `a${".a".repeat(8_000)}@b.co` })),
  post("an address of 16,000 hyphens", json, entry({ email: `a@${"-".repeat(16_000)}.co` })),
  post("an international domain of 5,000 labels", json, entry({ email: `a@${"ü.".repeat(5_000)}co` })),
  post("a name of 8,000 combining marks", json, entry({ name: `e${"\u0301\u0316".repeat(4_000)}` })),
  post(
    "a campaign of 8,000 combining marks",
    json,
    entry({ source: { utm_source: `e${"\u0301\u0316".repeat(4_000)}` } }),
  ),
  post(
    "a referrer of 5,300 different characters",
    json,
    entry({
      source: { referrer: `https://${String.fromCharCode(...Array.from({ length: 5_300 }, (_, i) => 0x4e_00 + i))}` },
    }),
  ),
  post("a source of 16 KB", json, entry({ source: { referrer: `https://${"ü".repeat(7_000)}/`, utm_source: "x" } })),
  post("a Referer of 15 KB", `${json}Referer: http://localhost/?${"utm_term=a&".repeat(1_400)}\r\n`, entry({})),
  post("a content type of 15 KB", `${html}Content-Type: application/json;${"a=b;".repeat(3_700)}\r\n`, entry({})),
];
