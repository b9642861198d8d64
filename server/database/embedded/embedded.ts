// The embedded Postgres for a machine without one: created, started, shared by several processes and stopped by the last.
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { exampleUrl } from "../../config/database-urls.ts";
import { OperatorError } from "../../errors.ts";
import { freePort } from "./free-port.ts";
import { findPrograms, type Run } from "./postgres-programs.ts";

/** Each process that uses this Postgres holds this lock shared. The process that gets it exclusively is the last and stops Postgres. */
const inUseLock = 4_155_217;

interface Cluster {
  data: string;
  /** Of every role: whoever can read the file is the same person. */
  password: string;
  run: Run;
}

/**
 * Opens the Postgres whose data is in `folder`: creates the cluster if there is none, and starts it if it does not run. The last
 * process that releases it stops it. @param mayCreate false throws if there is no cluster. @throws OperatorError
 */
export async function openEmbedded(folder: string, mayCreate = true) {
  const directory = join(folder, "postgres");
  if (!mayCreate && !existsSync(directory)) {
    throw new OperatorError("DATABASE_URL is not set, and there is no embedded Postgres yet: npm run dev creates it.");
  }
  try {
    const run = await findPrograms(folder);
    if (!existsSync(directory)) await createCluster(directory, run);
    const password = await readFile(join(directory, "password"), "utf8");
    const cluster = { data: join(directory, "data"), password, run };
    const holder = await joinCluster(cluster);
    const url = (role: string) =>
      // It has no certificate, whatever PGSSLMODE says.
      `postgresql://perennial_${role}:${password}@127.0.0.1:${holder.port}/perennial?sslmode=disable`;
    const urls = { ownerUrl: url("owner"), webUrl: url("web"), adminUrl: url("admin") };
    return { ...urls, directory, release: () => leave(cluster, holder) };
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(
      `DATABASE_URL is missing, and the embedded Postgres cannot run here: ${(error as Error).message}\nSet DATABASE_URL to a Postgres of your own, for example DATABASE_URL=${exampleUrl("DATABASE_URL")}`,
      { cause: error },
    );
  }
}

/** Creates the cluster under a temporary name and renames it, so that neither a kill nor a concurrent start leaves half of one. */
async function createCluster(directory: string, run: Run) {
  const draft = await mkdtemp(`${directory}.new-`);
  const [data, file, password] = [join(draft, "data"), join(draft, "password"), randomBytes(24).toString("hex")];
  await writeFile(file, password, { mode: 0o600 });
  const options = ["--auth=scram-sha-256", "--username=postgres", `--pwfile=${file}`, "--encoding=UTF8", "--locale=C"];
  // Terse: the details of an error quote the row.
  const configuration = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "log_error_verbosity=terse"];
  try {
    await run("initdb", ["-D", data, ...options, ...configuration.map((line) => `--set=${line}`)]);
    const statements = `CREATE ROLE perennial_owner LOGIN CREATEROLE PASSWORD '${password}'
CREATE DATABASE perennial OWNER perennial_owner
`;
    await run("postgres", ["--single", "-D", data, "-c", "exit_on_error=on", "postgres"], statements);
    await rename(draft, directory);
  } catch (error) {
    await rm(draft, { recursive: true });
    if (!existsSync(directory)) throw error; // Otherwise, a concurrent start was faster.
  }
}

/** Connects and starts Postgres until one works: another process may be starting or stopping it. */
async function joinCluster(cluster: Cluster): Promise<pg.Client> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const connection = await connect(cluster, "pg_advisory_lock_shared").catch(() => undefined);
    if (connection) return connection.client;
    await start(cluster).catch(async (error: unknown) => {
      if (error instanceof OperatorError || performance.now() > deadline) throw error;
      await sleep(250);
    });
  }
}

async function leave(cluster: Cluster, holder: pg.Client): Promise<void> {
  await holder.end();
  // Nobody can connect if Postgres ended first.
  const last = await connect(cluster, "pg_try_advisory_lock").catch(() => undefined);
  if (last?.isLocked) await cluster.run("pg_ctl", ["stop", "-D", cluster.data, "-m", "fast"]);
  await last?.client.end();
}

async function connect({ data, password }: Cluster, lock: "pg_advisory_lock_shared" | "pg_try_advisory_lock") {
  const { port } = await readLockFile(data);
  if (!port) return undefined;
  const target = { host: "127.0.0.1", port, user: "postgres", password, database: "postgres", ssl: false };
  // A Postgres that hangs must not prevent the shutdown.
  const client = new pg.Client({ ...target, connectionTimeoutMillis: 5_000, query_timeout: 5_000 });
  client.on("error", () => undefined); // The next query fails.
  try {
    await client.connect();
    const { rows } = await client.query(`SELECT ${lock}($1) AS locked`, [inUseLock]);
    return { client, isLocked: rows[0].locked as boolean };
  } catch (error) {
    await client.end();
    throw error;
  }
}

async function start({ data, run }: Cluster) {
  const { path, pid } = await readLockFile(data);
  // Postgres refuses to start while the process named in its lock file is alive. After a kill, that number may belong to an
  // unrelated process; in a container it usually does. A running postmaster ends itself without the file.
  const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => data); // Only Linux has it.
  if (!command.includes(data)) await rm(path, { force: true });
  await run("pg_ctl", ["start", "-D", data, "-w", "-t", "30", "-o", `-p ${await freePort()}`]);
}

async function readLockFile(data: string) {
  const path = join(data, "postmaster.pid");
  const [pid, , , port] = (await readFile(path, "utf8").catch(() => "")).split("\n");
  return { path, pid, port: Number(port) };
}
