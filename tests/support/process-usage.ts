// Memory and processor time of a process, as Linux counts them.
import { readFileSync } from "node:fs";

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
