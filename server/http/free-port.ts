// A free port, for a program that needs its number in advance.
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** The system takes ports from 32768 up for outgoing connections and for programs that listen on port 0. */
const range = [20_000, 32_768] as const;

/** Returns a port of 127.0.0.1 that no program uses. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(...range);
    if (await isFree(port)) return port;
  }
}

/** Returns whether a program can listen on the port of 127.0.0.1. */
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
