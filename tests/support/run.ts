// Finds and runs programs as an operator does, and measures their memory and processor time.
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runSite } from "./site.ts";

export type Run = Awaited<ReturnType<typeof run>>;

/**
 * Measures the peak memory in MB (10⁶ bytes); 0 without /proc.
 * @param discard sends stdout to /dev/null, so that this process does not read it.
 */
export async function run(command: [string, ...string[]], env: Record<string, string>, discard = false) {
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

/** In MB (10⁶ bytes): current (VmRSS) or peak (VmHWM). NaN if the process has ended. */
export function memoryOf(pid: number | undefined, field: "VmRSS" | "VmHWM"): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return (Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) * 1024) / 1e6;
  } catch {
    return NaN;
  }
}

/** User and system time so far, in seconds. */
export function cpuSecondsOf(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(" ");
  return (Number(fields[13]) + Number(fields[14])) / 100; // Linux counts in hundredths.
}

/** Debian keeps the programs of Postgres out of PATH. */
const postgresFolder = "/usr/lib/postgresql";

/** Returns the path of the first program that is installed, of the newest Postgres if it is one of its own. @throws if there is none. */
export function findProgram(...names: string[]): string {
  // The newest may have only the programs of a client.
  const versions = existsSync(postgresFolder) ? readdirSync(postgresFolder).toSorted().toReversed() : [];
  const binaries = versions.map((version) => join(postgresFolder, version, "bin"));
  const folders = [...binaries, ...(process.env.PATH ?? "").split(":")];
  const path = folders.flatMap((folder) => names.map((name) => join(folder, name))).find((file) => existsSync(file));
  if (!path) throw new Error(`This needs ${names.join(" or ")}.`);
  return path;
}
