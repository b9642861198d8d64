// A receiver of webhooks that responds, fails or hangs as a test wants.
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

export interface Received {
  headers: IncomingHttpHeaders;
  body: string;
  /** The status of the response; 0 if there was none. */
  answer: number;
}

export interface Receiver {
  url: string;
  /** Every request, in order, whatever the response. */
  received: Received[];
  /** Responds with this status from now on, after `delay` milliseconds; with 0, not at all. */
  answer(status: number, delay?: number): void;
  /** Resolves after `count` requests in all. */
  reached(count: number): Promise<void>;
  close(): Promise<void>;
}

/** @param port 0 for any; the port of a closed receiver reopens it. */
export async function openReceiver(port = 0): Promise<Receiver> {
  const received: Received[] = [];
  let status = 200;
  let delay = 0;
  async function take(req: IncomingMessage, res: ServerResponse) {
    const [answer, later] = [status, delay];
    received.push({ headers: req.headers, body: await text(req), answer });
    server.emit("received");
    await sleep(later);
    if (answer > 0) res.writeHead(answer, answer === 302 ? { Location: "/elsewhere" } : {}).end("ok");
  }
  const server = createServer((req, res) => void take(req, res)).listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    answer: (nextStatus, nextDelay = 0) => {
      status = nextStatus;
      delay = nextDelay;
    },
    reached: async (count) => {
      while (received.length < count) await once(server, "received");
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
