// Finds a free port of this machine, for the embedded Postgres and for tests.
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Returns a free port of 127.0.0.1, below those that the system gives to outgoing connections. */
export async function freePort(): Promise<number> {
  const port = randomInt(20_000, 32_768);
  const server = createServer().listen(port, "127.0.0.1");
  const isFree = await once(server, "listening").then(
    () => true,
    () => false,
  );
  await new Promise((done) => server.close(done));
  return isFree ? port : freePort();
}
