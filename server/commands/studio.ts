// npm run studio: opens Prisma Studio on the configured database, for this machine only.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { connect, createServer } from "node:net";
import { pipeline } from "node:stream";
import { parseArgs } from "node:util";
import { migrate } from "../database/migrate.ts";
import { OperatorError } from "../operator-error.ts";
import { printable } from "../printable.ts";
import { projectRoot } from "../project-root.ts";
import { runCommand } from "./command.ts";

await runCommand(async (database) => {
  const { port, listen } = readOptions();
  // A new embedded database has no tables yet; a given one is looked at, not changed.
  if (database.directory) await migrate(database);
  if (listen) await forward(listen, Number(port));
  const prisma = createRequire(import.meta.url).resolve("prisma/build/index.js");
  // With a browser to open, Studio ends where there is none, as on a server; its address is printed anyway.
  const studio = spawn(process.execPath, [prisma, "studio", "--browser", "none", "--port", port], {
    cwd: projectRoot,
    stdio: "inherit",
    env: { ...process.env, DATABASE_OWNER_URL: database.ownerUrl },
  });
  // Ctrl-C reaches Studio as well; this process waits for it to end and then lets go of the database.
  let asked = false;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      asked = true;
      studio.kill(signal);
    });
  }
  const [code] = (await once(studio, "exit")) as [number | null];
  process.exitCode = asked ? 0 : (code ?? 1);
});

function readOptions() {
  const options = { port: { type: "string", default: "5555" }, listen: { type: "string" } } as const;
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    throw new OperatorError(printable((error as Error).message));
  }
}

/** Lets a container's published port reach Studio, which listens on the container's loopback alone. */
async function forward(listen: string, port: number): Promise<void> {
  const url = `tcp://${listen}`;
  const { hostname, port: door } = URL.canParse(url) ? new URL(url) : { hostname: "", port: "" };
  if (!hostname || !door) throw new OperatorError("--listen takes an address and a port, for example 0.0.0.0:5556");
  const server = createServer((outside) => {
    // Whichever side breaks off, both end.
    pipeline(outside, connect(port, "127.0.0.1"), outside, () => undefined);
  });
  server.listen(Number(door), hostname);
  await once(server, "listening");
}
