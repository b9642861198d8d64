// Finds and runs pg_dump and pg_restore, without the password in the list of processes.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type pg from "pg";
import { childEnvironment } from "../../../config.ts";
import { OperatorError, printable } from "../../../operator-messages.ts";

const execute = promisify(execFile);

export interface Tool {
  path: string;
  /** The major version. */
  version: number;
}

/** Debian keeps the tools of each version here, outside of PATH. */
const debianFolder = "/usr/lib/postgresql";

type ToolName = "pg_dump" | "pg_restore";

/**
 * Returns the newest installed version of the tool.
 * @throws OperatorError if there is none, or it is older than the server and cannot read its data.
 */
export async function findTool(name: ToolName, client: pg.Client): Promise<Tool> {
  const { rows } = await client.query("SELECT current_setting('server_version_num')::int / 10000 AS version");
  const server = rows[0].version as number;
  const versions = await readdir(debianFolder).catch(() => []);
  const folders = [
    ...(childEnvironment().PATH ?? "").split(":"),
    ...versions.map((one) => join(debianFolder, one, "bin")),
  ];
  const found = await Promise.all(folders.filter(Boolean).map((folder) => identify(join(folder, name))));
  const newest = found.flatMap((tool) => tool ?? []).toSorted((a, b) => b.version - a.version)[0];
  if (!newest || newest.version < server) throw new OperatorError(describeMissing(name, server, newest));
  return newest;
}

/** @param newest the newest installed version, older than the server's. */
export function describeMissing(name: ToolName, server: number, newest?: Tool): string {
  const reason = newest
    ? `${printable(newest.path)} is of Postgres ${newest.version}, which is older than the server's ${server} and cannot do it.`
    : `${name} is not installed here; the image does not include it.`;
  return (
    `${reason} With docker compose, run: docker compose exec -T database ${name} …, as in docs/operate.md, "Back up and restore". ` +
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
 * Runs the tool on the database, and forwards SIGINT and SIGTERM to it.
 * @returns its stdout.
 * @throws OperatorError with its stderr.
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

/** The parameters of a connection string that libpq knows too; node-postgres and Prisma have others. */
const parameters: Record<string, string> = {
  host: "PGHOST",
  port: "PGPORT",
  sslmode: "PGSSLMODE",
  sslrootcert: "PGSSLROOTCERT",
  sslcert: "PGSSLCERT",
  sslkey: "PGSSLKEY",
  options: "PGOPTIONS",
};

/** Returns the environment from which libpq reads the connection. */
function toolEnvironment(databaseUrl: string, version: number): NodeJS.ProcessEnv {
  const { hostname, port, username, password, pathname, searchParams } = new URL(databaseUrl);
  const env: NodeJS.ProcessEnv = {
    ...childEnvironment(),
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
  // The certificates that Node trusts; libpq by default looks for a file in the home directory.
  if (env.PGSSLMODE === "verify-full" && version >= 16) env.PGSSLROOTCERT ??= env.NODE_EXTRA_CA_CERTS ?? "system";
  return env;
}
