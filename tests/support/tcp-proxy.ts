// A TCP proxy to Postgres that a test can close, stall, delay and repair.
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export interface Wire {
  /** Returns the URL of the database through the proxy. */
  url(databaseUrl: string): string;
  /** Closes every connection and refuses new ones. */
  cut(): Promise<void>;
  /** Accepts connections and data, and forwards nothing, as with a frozen Postgres. */
  stall(): void;
  /** Forwards everything with a latency, in milliseconds. */
  delay(ms: number): void;
  /** Open connections stay silent for ever, as after a failover; new ones work. */
  forget(): void;
  mend(): Promise<void>;
}

export async function openWire(databaseUrl: string): Promise<Wire> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const forgotten = new WeakSet<Socket>();
  let stalled = false;
  let latency = 0;
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => (sockets.delete(from), to.destroy()));
      from.on("data", (chunk) => {
        if (latency > 0) setTimeout(() => to.write(chunk), latency).unref();
        else if (!stalled && !forgotten.has(from)) to.write(chunk);
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: (through) => {
      const url = new URL(through);
      url.port = String(port);
      return url.href;
    },
    cut: async () => {
      const closed = new Promise((done) => server.close(done));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    stall: () => {
      stalled = true;
    },
    delay: (ms) => {
      latency = ms;
    },
    forget: () => {
      stalled = false;
      for (const socket of sockets) forgotten.add(socket);
    },
    mend: async () => {
      stalled = false;
      latency = 0;
      // Data was dropped, so the open connections cannot continue.
      for (const socket of sockets) socket.destroy();
      if (server.listening) return;
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
    },
  };
}
