// A real Postgres in a folder of its own, which goes when it stops.
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEmbedded, type EmbeddedDatabase } from "../../server/database/embedded.ts";

export interface Postgres extends EmbeddedDatabase {
  superuserUrl: string;
  /** Sends a signal to the postmaster and to every process of its own. */
  signal(name: NodeJS.Signals): void;
  /** Ends it in order and its connections with it, as an administrator does; its folder stays. */
  stop(): Promise<void>;
  /** Starts it again, on the same port, after it was killed or stopped. */
  startAgain(): Promise<void>;
}

/** @param parent where its folder is made, such as a small disk. */
export async function startPostgres(parent = tmpdir()): Promise<Postgres> {
  const folder = await mkdtemp(join(parent, "perennial-postgres-"));
  let postgres = await openEmbedded(folder);
  const passwords = JSON.parse(await readFile(join(postgres.directory, "passwords.json"), "utf8")) as {
    superuser: string;
  };
  const superuser = new URL(postgres.ownerUrl);
  superuser.username = "postgres";
  superuser.password = passwords.superuser;
  superuser.pathname = "/postgres";
  return {
    ...postgres,
    superuserUrl: superuser.href,
    signal: (name) => {
      const pidFile = readFileSync(join(postgres.directory, "data/postmaster.pid"), "utf8");
      const postmaster = Number(pidFile.split("\n")[0]);
      for (const pid of [postmaster, ...childrenOf(postmaster)]) process.kill(pid, name);
    },
    stop: () => postgres.release(),
    startAgain: async () => {
      postgres = await openEmbedded(folder);
    },
    release: async () => {
      await postgres.release();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function childrenOf(parent: number): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && parentOf(pid) === parent);
}

function parentOf(pid: number): number | undefined {
  try {
    // "pid (name) state ppid …", and a name may hold spaces.
    return Number(
      readFileSync(`/proc/${pid}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ")[1],
    );
  } catch {
    return undefined; // It ended meanwhile.
  }
}
