// npm run studio: Prisma Studio for the configured database, on this machine only.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { connect, createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { pipeline } from "node:stream";
import { createInterface } from "node:readline";
import { Command } from "commander";
import { childEnvironment } from "../config/load-config.ts";
import { listen } from "../http/listen.ts";
import { projectRoot } from "../config/project-root.ts";
import { print, readWholeNumber, runCommand } from "./command.ts";

/**
 * The newest entries, with the columns that are read most first; a sixth one would leave no room for others in 1,280 px. Without a view,
 * Studio opens the first table, which is Prisma's own. See
 * https://github.com/prisma/studio/blob/main/Architecture/navigation-url-state.md
 */
const view = "#table=earlyaccess&sort=created_at:desc,id:desc&pin=name,email,company,job_title,status";

/** Runs in Studio's process. Its page sends telemetry to another host, which only a policy can stop; the policy also forbids frames. */
const preload = `
import { ServerResponse } from "node:http";
const { writeHead } = ServerResponse.prototype;
ServerResponse.prototype.writeHead = function (...args) {
  this.setHeader("Content-Security-Policy", "default-src 'self' 'unsafe-inline' data:; frame-ancestors 'none'");
  return writeHead.apply(this, args);
};`;

const { port, forward } = new Command("studio")
  .option("--port <PORT>", "the port on this machine", readWholeNumber(1, 65_535), 5555)
  .option("--forward", "forward the same port of a container's own addresses")
  .parse()
  .opts<{ port: number; forward?: boolean }>();

await runCommand("DATABASE_ADMIN_URL", async (database) => {
  const probe = createServer();
  await listen(probe, "127.0.0.1", port, "--port");
  probe.close();
  const studio = startStudio(database.adminUrl);
  const exit = once(studio, "exit") as Promise<[number | null]>;
  // Ctrl-C also reaches Studio. This process waits for Studio to end, then releases the database.
  let signalled = false;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      signalled = true;
      studio.kill(signal);
    });
  }
  createInterface(studio.stdout).on("line", (line) => {
    if (!line.includes("http://localhost:")) return;
    if (forward) forwardOtherIps();
    print(`Prisma Studio, with the newest entries first: http://localhost:${port}/${view}\n`);
  });
  const [code] = await exit;
  process.exitCode = signalled ? 0 : (code ?? 1);
});

/** Studio listens on 127.0.0.1, and refuses POST requests whose Origin is not http://localhost:PORT. It ends with this process, unless SIGKILL ends this process. */
function startStudio(databaseUrl: string | undefined) {
  const prisma = createRequire(import.meta.url).resolve("prisma/build/index.js");
  const module = `data:text/javascript,${encodeURIComponent(preload)}`;
  // Without --browser none, Studio exits on a machine that has no browser.
  const options = ["--browser", "none", "--port", String(port)];
  const studio = spawn(process.execPath, ["--import", module, prisma, "studio", ...options], {
    cwd: projectRoot,
    stdio: ["inherit", "pipe", "inherit"],
    // CHECKPOINT_DISABLE turns off telemetry to Prisma.
    env: { ...childEnvironment(), DATABASE_OWNER_URL: databaseUrl, CHECKPOINT_DISABLE: "1" },
  });
  process.on("exit", () => studio.kill());
  return studio;
}

/** Forwards the port of a container's own addresses, to which Docker forwards a published port. Keeps no process alive. */
function forwardOtherIps() {
  const interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  for (const { address } of interfaces.filter(({ internal, family }) => !internal && family === "IPv4")) {
    createServer((socket) => {
      pipeline(socket, connect(port, "127.0.0.1"), socket, () => undefined);
    })
      .listen(port, address)
      .unref();
  }
}
