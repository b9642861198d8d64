// Runs a command as an operator does, and measures its time and memory.
import { once } from "node:events";
import { memoryOf } from "./process-usage.ts";
import { runSite } from "./site.ts";

export interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
  seconds: number;
  /** Peak memory in MB (10⁶ bytes); 0 without /proc. */
  peakMegabytes: number;
}

/** @param discard sends stdout to /dev/null, so that this process does not read it. */
export async function run(command: [string, ...string[]], env: Record<string, string>, discard = false): Promise<Run> {
  const began = performance.now();
  const child = runSite({ command, env, ...(discard && { log: "/dev/null" }) });
  let peakMegabytes = 0;
  // The kernel's peak is gone when the process is.
  const sample = () => (peakMegabytes = Math.max(peakMegabytes, memoryOf(child.process.pid, "VmHWM") || 0));
  const sampling = setInterval(sample, 20);
  const [code] = (await once(child.process, "close")) as [number | null];
  clearInterval(sampling);
  const seconds = (performance.now() - began) / 1000;
  return { code, stdout: child.stdout(), stderr: child.stderr(), seconds, peakMegabytes };
}
