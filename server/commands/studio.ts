// npm run studio: Prisma Studio for the configured database, on this machine only.
import { once } from "node:events";
import { createServer } from "node:http";
import { parseArgs } from "node:util";
import { migrate } from "../database/migrate.ts";
import { requireAdminUrl } from "../database/connect.ts";
import { freePort } from "../http/free-port.ts";
import { listen } from "../http/listen.ts";
import { OperatorError, printable } from "../operator-messages.ts";
import { runCommand } from "./command.ts";
import { print } from "./print.ts";
import { startStudio, untilListening } from "./studio/process.ts";
import { createStudioProxy } from "./studio/proxy.ts";

await runCommand(async (database) => {
  const addresses = readAddresses();
  const adminUrl = requireAdminUrl(database);
  // A new embedded database has no tables yet. A database of the operator is not migrated here.
  if (database.directory) await migrate(database);
  // Studio's own choice begins at a fixed port, so that two Studios started at once could choose the same one.
  const port = await freePort();
  const studio = startStudio(adminUrl, port);
  const exit = once(studio, "exit") as Promise<[number | null]>;
  // Ctrl-C also reaches Studio. This process waits for Studio to end, then releases the database.
  let signalled = false;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      signalled = true;
      studio.kill(signal);
    });
  }
  try {
    if (await untilListening(studio.stdout)) await serve(port, addresses);
    const [code] = await exit;
    process.exitCode = signalled ? 0 : (code ?? 1);
  } finally {
    studio.kill();
  }
});

interface Address {
  option: string;
  hostname: string;
  port: number;
}

/** Returns the loopback address and the address of --listen, which a container's published port needs. */
function readAddresses(): [Address, ...Address[]] {
  const { port, listen: address } = readOptions();
  const loopback = readAddress("--port", `127.0.0.1:${port}`, "a port, for example 5556");
  if (address === undefined) return [loopback];
  return [loopback, readAddress("--listen", address, "an address and a port, for example 0.0.0.0:5556")];
}

function readOptions() {
  const options = { port: { type: "string", default: "5555" }, listen: { type: "string" } } as const;
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    throw new OperatorError(printable((error as Error).message));
  }
}

function readAddress(option: string, address: string, expected: string): Address {
  const url = `tcp://${address}`;
  const { hostname, port } = URL.canParse(url) ? new URL(url) : { hostname: "", port: "" };
  if (!hostname || !port) throw new OperatorError(`${option} takes ${expected}`);
  return { option, hostname, port: Number(port) };
}

async function serve(studioPort: number, addresses: [Address, ...Address[]]): Promise<void> {
  const proxy = await createStudioProxy(studioPort);
  const ports = [];
  for (const { option, hostname, port } of addresses) {
    ports.push(await listen(createServer(proxy), hostname, port, option));
  }
  print(`Prisma Studio is running at http://localhost:${ports[0]}\n`);
}
