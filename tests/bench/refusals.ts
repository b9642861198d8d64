// What requests cost that anybody may send without limit, compared with a prerendered page.
import { once } from "node:events";
import { connect } from "node:net";
import { aboveLimit, unlimited, type ExpensiveRequest } from "../support/expensive-requests.ts";
import { startSite, type Bench } from "./measure.ts";
import type { Server } from "./processes.ts";
import { ratio, summarise, takeTurns } from "./statistics.ts";
import type { Row } from "./table.ts";

const connections = 16;
const perRound = 4_000;
const rounds = 3;

const page: ExpensiveRequest = {
  name: "GET /",
  bytes: Buffer.from("GET / HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: br\r\n\r\n"),
};

/** @returns the most expensive ones. */
export async function measureRefusals(bench: Bench): Promise<Row[]> {
  const site = await startSite(bench, bench.postgres, { SIGNUP_LIMIT: "1" });
  const requests = [page, ...unlimited, ...aboveLimit];
  const contestants = Object.fromEntries(requests.map((request) => [request.name, () => costOf(site, request)]));
  for (const request of aboveLimit) await send(site, request.bytes, 2); // Uses up the limit.
  const costs = await takeTurns(rounds, contestants, (round, name) =>
    bench.say(`${name}, round ${round} of ${rounds}`),
  );
  await site.stop();
  const pages = costs[page.name] as number[];
  const microseconds = (values: number[]) => `${Math.round(summarise(values).median * 1e6)} µs`;
  const rows = Object.entries(costs).map(([name, values]): Row => {
    const share = ratio(values, pages);
    const budget = { text: "≤ 3", holds: share.median <= 3 };
    return { what: name, ours: microseconds(values), reference: `GET / ${microseconds(pages)}`, ratio: share, budget };
  });
  return rows.toSorted((a, b) => (b.ratio?.median ?? 0) - (a.ratio?.median ?? 0)).slice(0, 3);
}

/** Seconds of the server's processor time for one request. */
async function costOf(site: Server, { bytes }: ExpensiveRequest): Promise<number> {
  const before = site.cpuSeconds();
  await Promise.all(Array.from({ length: connections }, () => send(site, bytes, perRound / connections)));
  return (site.cpuSeconds() - before) / perRound;
}

/** Sends the request so many times, each when the one before it is answered. */
async function send(site: Server, bytes: Buffer, times: number): Promise<void> {
  const socket = connect(Number(new URL(site.url).port), "127.0.0.1").setNoDelay();
  for (let i = 0; i < times; i++) {
    socket.write(bytes);
    for (let missing = 0; ;) {
      const [chunk] = (await once(socket, "data")) as [Buffer];
      if (missing === 0) {
        const head = chunk.toString("latin1", 0, 4_096);
        missing = head.indexOf("\r\n\r\n") + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
      }
      missing -= chunk.length;
      if (missing <= 0) break;
    }
  }
  socket.destroy();
}
