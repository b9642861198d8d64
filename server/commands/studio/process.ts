// The process of Prisma Studio.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { childEnvironment } from "../../config.ts";
import { projectRoot } from "../../project-root.ts";

/** Studio 7.10 sends database errors to its page as JSON, which lacks their message. */
const errorsWithMessage =
  "Error.prototype.toJSON = function () { return { ...this, name: this.name, message: this.message }; };";

/** Starts Studio on the port of 127.0.0.1. Studio ends with this process, unless SIGKILL ends this process. */
export function startStudio(databaseUrl: string, port: number) {
  const prisma = createRequire(import.meta.url).resolve("prisma/build/index.js");
  const preload = `data:text/javascript,${encodeURIComponent(errorsWithMessage)}`;
  // Without --browser none, Studio exits on a machine that has no browser.
  const command = ["--import", preload, prisma, "studio", "--browser", "none", "--port", String(port)];
  const studio = spawn(process.execPath, command, {
    cwd: projectRoot,
    stdio: ["inherit", "pipe", "inherit"],
    // CHECKPOINT_DISABLE turns off telemetry to Prisma.
    env: { ...childEnvironment(), DATABASE_OWNER_URL: databaseUrl, CHECKPOINT_DISABLE: "1" },
  });
  process.on("exit", () => studio.kill());
  return studio;
}

/** Resolves with true when Studio listens, or with false if Studio ended. */
export async function untilListening(stdout: Readable): Promise<boolean> {
  let listening = false;
  for await (const line of createInterface(stdout)) {
    listening = line.includes("http://localhost:");
    if (listening) break;
  }
  stdout.resume(); // Studio would block on a full pipe.
  return listening;
}
