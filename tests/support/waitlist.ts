// The built waitlist command, run as an operator runs it. Its output may show the list, so the search of the logs
// (global-setup.ts) excludes it.
import { join } from "node:path";
import type { DatabaseUrls } from "../../server/database/roles.ts";
import { projectRoot } from "../../server/project-root.ts";
import { run, type Run } from "./run.ts";

export const builtWaitlist = join(projectRoot, "dist/server/waitlist.js");

/** The verdict of doctor on each thing that it names. */
export const verdicts = (stdout: string) =>
  Object.fromEntries(
    [...stdout.matchAll(/^(ok|warning|problem) +([^:]+):/gm)].map(([, verdict, what]) => [what, verdict]),
  );

/** @param env overrides the URLs of the database. @param program a copy of the bundle. */
export async function runWaitlist(
  { webUrl, ownerUrl, adminUrl }: DatabaseUrls,
  args: string[],
  env: Record<string, string> = {},
  program = builtWaitlist,
): Promise<Pick<Run, "code" | "stdout" | "stderr">> {
  const urls = {
    DATABASE_URL: webUrl,
    DATABASE_OWNER_URL: ownerUrl,
    ...(adminUrl ? { DATABASE_ADMIN_URL: adminUrl } : {}),
  };
  const { code, stdout, stderr } = await run([process.execPath, program, ...args], { ...urls, ...env });
  return { code, stdout, stderr };
}
