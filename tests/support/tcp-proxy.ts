// A TCP proxy to Postgres that a test can close, stall and repair, or let refuse connections.
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

const readyForQuery = "Z\0\0\0\x05I";

/** @param change replaces what a client sends. */
export async function openWire(databaseUrl: string, change = (chunk: Buffer) => chunk) {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const forgotten = new WeakSet<Socket>();
  let stalled = false;
  let hanging = false;
  let refusal: Buffer | undefined;
  const forward = (from: Socket, to: Socket, edit = (chunk: Buffer) => chunk) => {
    sockets.add(from);
    from.on("error", () => to.destroy());
    from.on("close", () => (sockets.delete(from), to.destroy()));
    const isForwarded = () => !stalled && !forgotten.has(from);
    from.on("data", (chunk: Buffer) => {
      if (isForwarded()) to.write(edit(chunk));
      if (hanging && chunk.includes(readyForQuery)) forgotten.add(to);
    });
    from.on("end", () => isForwarded() && to.end());
  };
  const server = createServer({ allowHalfOpen: true }, (near) => {
    if (refusal) {
      const answer = refusal;
      near.on("error", () => undefined).once("data", () => near.end(answer));
      return;
    }
    const far = connect({ port: Number(target.port), host: target.hostname, allowHalfOpen: true });
    forward(near, far, change);
    forward(far, near);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const closeAll = () => sockets.forEach((socket) => socket.destroy());
  return {
    /** Returns the URL of the database through the proxy. */
    url: (through: string) => Object.assign(new URL(through), { port: String(port) }).href,
    /** Closes every connection and refuses new ones. */
    cut: async () => {
      const closed = new Promise((done) => server.close(done));
      closeAll();
      await closed;
    },
    /** Accepts connections and data, and forwards nothing, as with a frozen Postgres. */
    stall: () => void (stalled = true),
    /** Lets clients log in, and then forwards nothing that they send. */
    hang: () => void (hanging = true),
    /** Answers each client with the error. */
    refuse: (code: string, message: string) => {
      const fields = Buffer.from(`SFATAL\0C${code}\0M${message}\0\0`);
      refusal = Buffer.concat([Buffer.from([0x45, 0, 0, 0, fields.length + 4]), fields]);
    },
    /** Open connections stay silent for ever, as after a failover; new ones work. */
    forget: () => {
      stalled = false;
      for (const socket of sockets) forgotten.add(socket);
    },
    mend: async () => {
      if (stalled || hanging) closeAll(); // Data was dropped, so the open connections cannot continue.
      stalled = hanging = false;
      refusal = undefined;
      if (server.listening) return;
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
    },
  };
}
