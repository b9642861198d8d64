// Listens on a port, and says what to do if that fails.
import { once } from "node:events";
import type { Server } from "node:net";
import { OperatorError } from "../errors.ts";

/**
 * Listens for IPv4, too, if the host is `::`. Returns the port, which the system chooses if `port` is 0.
 * @throws OperatorError that names the setting of the port.
 */
export async function listen(server: Server, host: string, port: number, setting = "PORT"): Promise<number> {
  try {
    // Without a host, Node listens on ::, or on 0.0.0.0 if the kernel has no IPv6.
    server.listen(port, host === "::" ? undefined : host);
    await once(server, "listening");
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    throw new OperatorError(explain(code, host, port, setting), { cause: error });
  }
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("A Unix socket has no port");
  return address.port;
}

function explain(code: string, host: string, port: number, setting: string): string {
  if (code === "EADDRINUSE") {
    return `Port ${port} is taken by another program. Stop that one, or choose another port, for example ${setting}=${port + 1}`;
  }
  return `Cannot listen on HOST=${host}, ${setting}=${port} (${code}). Choose an address of this machine, and a port above 1023.`;
}
