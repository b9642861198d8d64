// Runs the built waitlist command as an operator does, and measures it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import type { DatabaseUrls } from "../../server/database/migrate.ts";
import { builtWaitlist } from "../support/waitlist.ts";

export interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
  seconds: number;
  /** The most memory that it held, in MB (10⁶ bytes). */
  peakMegabytes: number;
}

/** @param discard leaves its stdout unread by this process: it goes to /dev/null. */
export async function waitlist({ ownerUrl, webUrl }: DatabaseUrls, args: string[], discard = false): Promise<Run> {
  return measure(
    [process.execPath, builtWaitlist, ...args],
    { DATABASE_URL: webUrl, DATABASE_OWNER_URL: ownerUrl },
    discard,
  );
}

/** @returns what a person at a terminal sees, which `script` plays. */
export async function watch({ ownerUrl, webUrl }: DatabaseUrls, args: string[]): Promise<string> {
  const command = [process.execPath, builtWaitlist, ...args].map((word) => `'${word}'`).join(" ");
  const env = { DATABASE_URL: webUrl, DATABASE_OWNER_URL: ownerUrl };
  const { code, stdout } = await measure(["script", "--quiet", "--return", "--command", command, "/dev/null"], env);
  assert.equal(code, 0, stdout);
  return stdout;
}

export async function measure(command: string[], env: Record<string, string>, discard = false): Promise<Run> {
  const [file, ...args] = command as [string, ...string[]];
  const began = performance.now();
  const child = spawn(file, args, {
    cwd: tmpdir(), // Nobody's .env changes a test.
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", discard ? "ignore" : "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  let peakMegabytes = 0;
  // The kernel keeps the peak; it is gone when the process is.
  const reading = setInterval(() => (peakMegabytes = Math.max(peakMegabytes, readPeak(child.pid))), 20);
  const [code] = (await once(child, "close")) as [number | null];
  clearInterval(reading);
  return { code, stdout, stderr, seconds: (performance.now() - began) / 1000, peakMegabytes };
}

function readPeak(pid?: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return (Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024) / 1e6;
  } catch {
    return 0;
  }
}
