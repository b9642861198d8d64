// Ports: starts to listen, and says in a sentence why an address cannot be used.
import { once } from "node:events";
import type { Server } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import type { Logger } from "pino";
import { errorFields } from "../logger.ts";
import { OperatorError } from "../operator-messages.ts";

/** Each connection may meet the same error. */
const logPauseMs = 60_000;

/**
 * Starts to listen.
 * @param setting the setting or option that chooses the port, for the error message.
 * @param log gets later errors.
 * @returns the port, which the system chooses if `port` is 0.
 * @throws OperatorError if the address cannot be used.
 */
export async function listen(
  server: Server,
  host: string,
  port: number,
  setting = "PORT",
  log?: Logger,
): Promise<number> {
  try {
    server.listen(port, host);
    await once(server, "listening");
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    throw new OperatorError(explain(code, host, port, setting), { cause: error });
  }
  let nextLogAt = 0;
  server.on("error", (error) => {
    if (performance.now() < nextLogAt) return;
    nextLogAt = performance.now() + logPauseMs;
    log?.error({ error: errorFields(error) }, "connections cannot be accepted");
  });
  return (server.address() as AddressInfo).port;
}

function explain(code: string, host: string, port: number, setting: string): string {
  if (code === "EADDRINUSE") {
    const other = port < 65_535 ? port + 1 : 3000;
    return `Port ${port} is taken by another program. Stop that one, or choose another port, for example ${setting}=${other}`;
  }
  if (code === "EACCES") {
    return `Port ${port} needs more rights than this account has. Choose one above 1023, for example ${setting}=${setting === "PORT" ? 3000 : 9464}`;
  }
  return `Cannot listen on HOST=${host} (${code}). Choose an address of this machine, for example HOST=127.0.0.1`;
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
