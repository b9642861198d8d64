// A free port, for a program that needs its number in advance.
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";

/**
 * Another program can take the port before the caller uses it.
 * @param wanted 0 for any port.
 * @throws if the wanted port is taken.
 */
export async function freePort(wanted = 0): Promise<number> {
  const server = createServer().listen(wanted, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}
