// How much memory a process has, as Linux counts it.
import { readFileSync } from "node:fs";

/** In MB (10⁶ bytes): what it holds now (VmRSS), or the most that it ever held (VmHWM). NaN where it is no more. */
export function memoryOf(pid: number | undefined, what: "VmRSS" | "VmHWM"): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return (Number(new RegExp(`${what}:\\s+(\\d+)`).exec(status)?.[1]) * 1024) / 1e6;
  } catch {
    return NaN;
  }
}
