// Runs a command as an operator does, and measures it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { memoryOf } from "./memory.ts";

export interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
  seconds: number;
  /** The most memory that it held, in MB (10⁶ bytes); 0 where there is no /proc. */
  peakMegabytes: number;
}

/** @param discard leaves its stdout unread by this process: it goes to /dev/null. */
export async function run(command: string[], env: Record<string, string>, discard = false): Promise<Run> {
  const [file, ...args] = command as [string, ...string[]];
  const began = performance.now();
  const child = spawn(file, args, {
    cwd: tmpdir(), // Nobody's .env changes a test.
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", discard ? "ignore" : "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  let peakMegabytes = 0;
  // The kernel keeps the peak; it is gone when the process is.
  const look = () => (peakMegabytes = Math.max(peakMegabytes, memoryOf(child.pid, "VmHWM") || 0));
  const looking = setInterval(look, 20);
  const [code] = (await once(child, "close")) as [number | null];
  clearInterval(looking);
  return { code, stdout, stderr, seconds: (performance.now() - began) / 1000, peakMegabytes };
}
