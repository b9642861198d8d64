// A receiver of webhooks, which takes them, fails or hangs as it is told to.
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

export interface Received {
  headers: IncomingHttpHeaders;
  body: string;
  /** 0 where it was left without one. */
  answer: number;
}

export interface Receiver {
  url: string;
  /** What came, in order, whatever was answered. */
  received: Received[];
  /** Answers with this status from now on, so many milliseconds later; 0 for not at all. */
  answer(status: number, delay?: number): void;
  /** Resolves when so many have come in all. */
  reached(count: number): Promise<void>;
  close(): Promise<void>;
}

/** @param port 0 for any; the one of a receiver that was closed lets it come back. */
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
