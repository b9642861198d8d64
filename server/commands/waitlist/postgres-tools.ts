// Finds pg_dump and pg_restore, and runs them on a database whose password nobody sees in the list of processes.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type pg from "pg";
import { OperatorError } from "../../operator-error.ts";
import { printable } from "../../printable.ts";

const execute = promisify(execFile);

export interface Tool {
  path: string;
  /** The major version. */
  version: number;
}

/** Where Debian keeps those of each version, out of PATH. */
const debianFolder = "/usr/lib/postgresql";

type ToolName = "pg_dump" | "pg_restore";

/**
 * Returns the newest one that is installed.
 * @throws OperatorError if there is none, or it is older than the server, whose data it then cannot read.
 */
export async function findTool(name: ToolName, client: pg.Client): Promise<Tool> {
  const { rows } = await client.query("SELECT current_setting('server_version_num')::int / 10000 AS version");
  const server = rows[0].version as number;
  const versions = await readdir(debianFolder).catch(() => []);
  const folders = [...(process.env.PATH ?? "").split(":"), ...versions.map((one) => join(debianFolder, one, "bin"))];
  const found = await Promise.all(folders.filter(Boolean).map((folder) => identify(join(folder, name))));
  const newest = found.flatMap((tool) => tool ?? []).toSorted((a, b) => b.version - a.version)[0];
  if (!newest || newest.version < server) throw new OperatorError(describeMissing(name, server, newest));
  return newest;
}

/** @param newest is older than the server. */
export function describeMissing(name: ToolName, server: number, newest?: Tool): string {
  const reason = newest
    ? `${printable(newest.path)} is of Postgres ${newest.version}, which is older than the server's ${server} and cannot do it.`
    : `${name} is not installed here; the image does not include it.`;
  return (
    `${reason} With docker compose, run: docker compose exec -T database ${name} …, as in README.md, "Back up and restore". ` +
    `Otherwise run this command in the project folder, on a machine with Debian's package postgresql-client-${server} ` +
    "(from apt.postgresql.org if Debian's own is older)."
  );
}

async function identify(path: string): Promise<Tool | undefined> {
  try {
    const { stdout } = await execute(path, ["--version"]);
    return { path, version: Number(/\(PostgreSQL\) (\d+)/.exec(stdout)?.[1]) };
  } catch {
    return undefined;
  }
}

/**
 * Runs it on the database. A signal to this process goes to the tool as well.
 * @returns its stdout.
 * @throws OperatorError with what it complained of.
 */
export async function runTool({ path, version }: Tool, args: string[], databaseUrl: string): Promise<string> {
  const child = spawn(path, args, { env: toolEnvironment(databaseUrl, version), stdio: ["ignore", "pipe", "pipe"] });
  const pass = (signal: NodeJS.Signals) => child.kill(signal);
  process.on("SIGINT", pass).on("SIGTERM", pass);
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  process.off("SIGINT", pass).off("SIGTERM", pass);
  if (code !== 0) throw new OperatorError(`${printable(path)} failed:\n${stderr.trim()}`);
  return stdout;
}

/** Parameters of a connection string that libpq knows; node-postgres and Prisma have some of their own. */
const parameters: Record<string, string> = {
  host: "PGHOST",
  port: "PGPORT",
  sslmode: "PGSSLMODE",
  sslrootcert: "PGSSLROOTCERT",
  sslcert: "PGSSLCERT",
  sslkey: "PGSSLKEY",
  options: "PGOPTIONS",
};

/** The connection as libpq reads it from the environment. */
function toolEnvironment(databaseUrl: string, version: number): NodeJS.ProcessEnv {
  const { hostname, port, username, password, pathname, searchParams } = new URL(databaseUrl);
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    // These hold passwords, and are nothing that the tool needs.
    DATABASE_URL: undefined,
    DATABASE_OWNER_URL: undefined,
    NOTIFY_DATABASE_URL: undefined,
    PGHOST: decodeURIComponent(hostname).replace(/^\[(.*)\]$/, "$1") || undefined,
    PGPORT: port || undefined,
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: decodeURIComponent(pathname.slice(1)),
  };
  for (const [parameter, variable] of Object.entries(parameters)) {
    const value = searchParams.get(parameter);
    if (value !== null) env[variable] = value === "no-verify" ? "require" : value;
  }
  // Where Node looks, too; libpq asks for a file of its own instead.
  if (env.PGSSLMODE === "verify-full" && version >= 16)
    env.PGSSLROOTCERT ??= process.env.NODE_EXTRA_CA_CERTS ?? "system";
  return env;
}
