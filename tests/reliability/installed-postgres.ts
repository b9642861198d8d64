// A cluster of the installed Postgres, because the embedded one has no pg_dump of its version.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../../server/http/listen.ts";
import { findProgram } from "../support/programs.ts";

const execute = promisify(execFile);

/** Postgres refuses to run as root; Debian's package creates a user for it. */
export const asPostgres = process.getuid?.() === 0 ? ["runuser", "-u", "postgres", "--"] : [];

/** Calls `use` with a function that returns the URL of a database as a user, who needs no password, and a folder that is deleted at the end. */
export async function withInstalledPostgres(
  use: (url: (database: string, user?: string) => string, folder: string) => Promise<string>,
): Promise<string> {
  const run = async (name: string, ...args: string[]) => {
    const [file = "", ...rest] = [...asPostgres, findProgram(name), "-D", data, ...args];
    await execute(file, rest, { cwd: "/" });
  };
  const folder = await mkdtemp(join(tmpdir(), "perennial-postgres-"));
  const data = join(folder, "data");
  const port = await freePort();
  if (asPostgres.length > 0) await execute("chown", ["postgres", folder]);
  try {
    await run("initdb", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C");
    const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=`;
    await run("pg_ctl", "start", "-w", "-l", join(folder, "log"), "-o", options);
    try {
      return await use(
        (database, user = "postgres") => `postgresql://${user}:secret@127.0.0.1:${port}/${database}`,
        folder,
      );
    } finally {
      await run("pg_ctl", "stop", "-m", "immediate");
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}
