// The built waitlist command, run as an operator runs it. What it prints is not kept for the search of the logs
// (privacy.ts): to show the list is what it is for.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseUrls } from "../../server/database/migrate.ts";
import { projectRoot } from "../../server/project-root.ts";

export const builtWaitlist = join(projectRoot, "dist/server/waitlist.js");

export interface WaitlistRun {
  code: number | null;
  stdout: string;
  stderr: string;
}

/**
 * @param env wins over the database's URLs.
 * @param program a copy of the bundle.
 */
export async function runWaitlist(
  { webUrl, ownerUrl }: DatabaseUrls,
  args: string[],
  env: Record<string, string> = {},
  program = builtWaitlist,
): Promise<WaitlistRun> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: tmpdir(), // Nobody's .env changes a test.
    env: { PATH: process.env.PATH, DATABASE_URL: webUrl, DATABASE_OWNER_URL: ownerUrl, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}
