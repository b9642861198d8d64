// The embedded Postgres for a machine without one: created, started, shared by several processes and stopped by the last.
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { freePort, isFree } from "./free-port.ts";
import { exampleUrl } from "../../config/database-urls.ts";
import { OperatorError } from "../../errors.ts";
import { findPostgresBinaries, type PostgresBinaries } from "./postgres-binaries.ts";

type Passwords = Record<"superuser" | "owner" | "web" | "admin", string>;

const databaseName = "perennial";
const startDeadlineMs = 30_000;
/** Each process that uses this Postgres holds this lock shared. The process that gets it exclusively is the last and stops Postgres. */
const inUseLock = 4_155_217;

interface Cluster {
  directory: string;
  data: string;
  passwords: Passwords;
  binaries: PostgresBinaries;
}

/**
 * Opens the Postgres whose data is in `folder`: creates the cluster if there is none, and starts it if it does not run. The last
 * process that releases it stops it. @param mayCreate false throws if there is no cluster. @throws OperatorError
 */
export async function openEmbedded(folder: string, mayCreate = true) {
  if (!mayCreate && !(await readPasswords(join(folder, "postgres"))))
    throw new OperatorError("DATABASE_URL is not set, and there is no embedded Postgres yet: npm run dev creates it.");
  return open(folder).catch((error: Error) => {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(
      `DATABASE_URL is missing, and the embedded Postgres cannot run here: ${error.message}\nSet DATABASE_URL to a Postgres of your own, for example DATABASE_URL=${exampleUrl("DATABASE_URL")}`,
      { cause: error },
    );
  });
}

async function open(folder: string) {
  const binaries = await findPostgresBinaries(folder);
  // Without symbolic links, so that every process names the same path, which isPostmaster looks for.
  const directory = join(await realpath(folder), "postgres");
  if (process.platform !== "win32" && /["$`]/.test(directory))
    throw new Error(`pg_ctl's shell misreads " $ and \` in the name of the folder ${directory}`);
  const passwords = (await readPasswords(directory)) ?? (await createCluster(directory, binaries));
  const cluster: Cluster = { directory, data: join(directory, "data"), passwords, binaries };
  const holder = await joinCluster(cluster);
  const url = (role: "owner" | "web" | "admin") =>
    // It has no certificate, whatever PGSSLMODE says.
    `postgresql://perennial_${role}:${passwords[role]}@127.0.0.1:${holder.port}/${databaseName}?sslmode=disable`;
  return {
    ownerUrl: url("owner"),
    webUrl: url("web"),
    adminUrl: url("admin"),
    directory,
    release: () => leave(cluster, holder),
  };
}

async function readPasswords(directory: string): Promise<Passwords | undefined> {
  try {
    return JSON.parse(await readFile(join(directory, "passwords.json"), "utf8")) as Passwords;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw unusable(directory, error);
  }
}

function unusable(directory: string, cause: unknown): OperatorError {
  // Without the parser's message, which quotes the file.
  const reason =
    (cause as NodeJS.ErrnoException).code === "EACCES"
      ? "belongs to another user. Start as that user"
      : "has a damaged passwords.json. Restore that file";
  return new OperatorError(`${directory} ${reason}, or move it away to begin with an empty database.`, { cause });
}

/** Creates the cluster under a temporary name and renames it, so that neither a kill nor a concurrent start leaves half of one. */
async function createCluster(directory: string, binaries: PostgresBinaries): Promise<Passwords> {
  const draft = await mkdtemp(`${directory}.new-`);
  try {
    const secret = () => randomBytes(24).toString("hex");
    const passwords: Passwords = { superuser: secret(), owner: secret(), web: secret(), admin: secret() };
    const [file, passwordFile] = [join(draft, "passwords.json"), join(draft, "initdb-password")];
    await writeFile(file, JSON.stringify(passwords), { mode: 0o600 });
    await writeFile(passwordFile, passwords.superuser, { mode: 0o600 });
    for (const path of [draft, file, passwordFile]) await binaries.give(path);
    const authentication = ["--auth=scram-sha-256", "--username=postgres", `--pwfile=${passwordFile}`];
    // Terse: the details of an error quote the row.
    const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "log_error_verbosity=terse"];
    const options = ["--encoding=UTF8", "--locale=C", ...settings.map((setting) => `--set=${setting}`)];
    await binaries.run("initdb", ["-D", join(draft, "data"), ...authentication, ...options]);
    await rm(passwordFile);
    await renameNew(draft, directory);
    return passwords;
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // A concurrent start may have been faster.
    const passwords = await readPasswords(directory);
    if (passwords) return passwords;
    throw error;
  }
}

/** Repeats a rename for 2 s: an antivirus program on Windows holds new files for a moment. */
async function renameNew(from: string, to: string, triesLeft = 8) {
  try {
    await rename(from, to);
  } catch (error) {
    if (triesLeft === 0 || process.platform !== "win32") throw error;
    await sleep(250);
    await renameNew(from, to, triesLeft - 1);
  }
}

/** Connects and starts Postgres until both work: another process may be starting or stopping it. */
async function joinCluster(cluster: Cluster): Promise<pg.Client> {
  const deadline = performance.now() + startDeadlineMs;
  for (;;) {
    try {
      const holder = await hold(cluster);
      if (holder) return holder;
      await start(cluster);
    } catch (cause) {
      const error = cause as Error & { code?: string };
      if (error.code === "28P01") throw unusable(cluster.directory, cause);
      const log = join(cluster.directory, "postgres.log");
      if (performance.now() > deadline) throw new Error(`${error.message}; its log is ${log}`, { cause });
      await sleep(250);
    }
  }
}

/** Returns a connection that holds inUseLock, or undefined if this cluster does not run. @throws if it is starting or stopping. */
async function hold({ data, passwords }: Cluster): Promise<pg.Client | undefined> {
  const { port, isRunning } = await readLock(data);
  // After a kill, another user's program may listen on the port, and would get the password.
  if (!port || !isRunning) return undefined;
  const target = { host: "127.0.0.1", port, database: "postgres", ssl: false };
  // A Postgres that hangs must not prevent the shutdown.
  const timeouts = { connectionTimeoutMillis: 5_000, query_timeout: 5_000 };
  const client = new pg.Client({ ...target, ...timeouts, user: "postgres", password: passwords.superuser });
  client.on("error", () => undefined); // The next query fails.
  try {
    await client.connect();
    await client.query("SELECT pg_advisory_lock_shared($1)", [inUseLock]);
    await createOwner(client, passwords.owner);
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

async function createOwner(client: pg.Client, password: string) {
  // A session lock: CREATE DATABASE cannot run in a transaction.
  await client.query("SELECT pg_advisory_lock($1)", [inUseLock + 1]);
  const { rows } = await client.query(
    `SELECT to_regrole('perennial_owner') IS NOT NULL AS role, EXISTS (SELECT FROM pg_database WHERE datname = $1) AS database`,
    [databaseName],
  );
  if (!rows[0].role) await client.query(`CREATE ROLE perennial_owner LOGIN CREATEROLE PASSWORD '${password}'`);
  if (!rows[0].database) {
    await client.query(`CREATE DATABASE ${databaseName} OWNER perennial_owner`);
    // No other application uses it, so no role needs temporary tables.
    await client.query(`REVOKE TEMPORARY ON DATABASE ${databaseName} FROM PUBLIC`);
  }
  await client.query("SELECT pg_advisory_unlock($1)", [inUseLock + 1]);
}

async function leave(cluster: Cluster, holder: pg.Client): Promise<void> {
  let isLast = false;
  try {
    await holder.query("SELECT pg_advisory_unlock_shared($1)", [inUseLock]);
    const { rows } = await holder.query("SELECT pg_try_advisory_lock($1) AS alone", [inUseLock]);
    isLast = rows[0].alone;
  } catch {
    // Postgres ended first, or recovered from a crash of one of its processes.
    const again = await hold(cluster).catch(() => undefined);
    return again && leave(cluster, again);
  }
  if (isLast) await cluster.binaries.run("pg_ctl", ["stop", "-D", cluster.data, "-m", "fast", "-w"]);
  holder.end().catch(() => undefined);
}

async function start({ directory, data, binaries }: Cluster) {
  const { port: last, isRunning } = await readLock(data);
  // Postgres refuses to start while the process named in its lock file is alive. After a kill, that number may belong to an
  // unrelated process; in a container it usually does. A running postmaster ends itself without the file.
  if (isRunning === false) await rm(lockFile(data), { force: true });
  // After a kill, use the same port if it is free, so that a running site can reconnect.
  const port = last && (await isFree(last)) ? last : await freePort();
  const options = ["-w", "-t", "30", "-l", join(directory, "postgres.log"), "-o", `-p ${port}`];
  await binaries.run("pg_ctl", ["start", "-D", data, ...options]);
}

const lockFile = (data: string) => join(data, "postmaster.pid");

/** Returns the port in Postgres' lock file, and whether the process in it is this postmaster; undefined if there is none. */
async function readLock(data: string) {
  const [pid = "", , , port] = (await readFile(lockFile(data), "utf8").catch(() => "")).split("\n");
  return { port: Number(port), isRunning: await isPostmaster(pid, data).catch(() => undefined) };
}

async function isPostmaster(pid: string, data: string): Promise<boolean> {
  // Without /proc, check that the process is alive and that this user may signal it.
  if (process.platform !== "linux") return process.kill(Number(pid), 0);
  // Without CAP_SYS_PTRACE, as in a container, root may not ask for another user's working directory.
  const command = await readFile(`/proc/${pid}/cmdline`, "utf8");
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return command.includes(`\0${data}\0`) && status.includes(`\nUid:\t${(await stat(data)).uid}\t`);
}
