// Free ports of 127.0.0.1, for the embedded Postgres and Studio.
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

export async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  await new Promise((done) => server.close(done));
  return true;
}

/** The system takes ports from 32768 up for outgoing connections and for programs that listen on port 0. */
export async function freePort(): Promise<number> {
  const port = randomInt(20_000, 32_768);
  return (await isFree(port)) ? port : freePort();
}
