// The waitlist command: within this process, or as an operator runs it.
import { join } from "node:path";
import { Writable } from "node:stream";
import { tmpdir } from "node:os";
import { runCommandLine } from "../../server/commands/waitlist/commands.ts";
import { explain } from "../../server/operator-messages.ts";
import type { DatabaseSettings } from "../../server/database/settings.ts";
import { projectRoot } from "../../server/project-root.ts";
import { run, type Run } from "./run.ts";
import { urlsOf } from "./site.ts";

export const builtWaitlist = join(projectRoot, "dist/server/waitlist.js");

type Result = Pick<Run, "code" | "stdout" | "stderr">;

/** Runs the command in this process, one at a time. @param env overrides the URLs of the database. */
export async function runWaitlist(
  database: DatabaseSettings,
  args: string[],
  env: Record<string, string> = {},
): Promise<Result> {
  const [folder, own] = [process.cwd(), process.env];
  process.chdir(tmpdir()); // Nobody's .env changes a test.
  process.env = { ...urlsOf(database), ...env };
  const [stdout, stderr] = [capture("stdout"), capture("stderr")];
  try {
    await runCommandLine(args);
  } catch (error) {
    process.stderr.write(explain(error));
    process.exitCode = 1;
  } finally {
    process.chdir(folder);
    process.env = own;
  }
  const code = Number(process.exitCode ?? 0);
  process.exitCode = undefined;
  return { code, stdout: stdout(), stderr: stderr() };
}

/** Returns a function that ends the capture, and returns what was written. */
function capture(name: "stdout" | "stderr"): () => string {
  const own = process[name];
  const chunks: Buffer[] = [];
  const stream = new Writable({ write: (chunk: Buffer, _, done) => (chunks.push(chunk), done()) });
  const replace = (value: Writable) => Object.defineProperty(process, name, { value, configurable: true });
  replace(stream);
  return () => {
    replace(own);
    return Buffer.concat(chunks).toString();
  };
}

/** Runs the built command. @param program another bundle. */
export async function runBuiltWaitlist(
  database: DatabaseSettings,
  args: string[],
  env: Record<string, string> = {},
  program = builtWaitlist,
): Promise<Result> {
  const { code, stdout, stderr } = await run([process.execPath, program, ...args], { ...urlsOf(database), ...env });
  return { code, stdout, stderr };
}
