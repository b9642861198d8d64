// The embedded Postgres for a machine without one: created, started, shared by several processes and stopped by the last.
import { randomBytes, randomInt } from "node:crypto";
import { mkdir, mkdtemp, readFile, readlink, realpath, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { isFree } from "../../http/listen.ts";
import { OperatorError } from "../../operator-messages.ts";
import { findPostgresBinaries, type RunProgram } from "./postgres-binaries.ts";

type Passwords = Record<"superuser" | "owner" | "web" | "admin", string>;

const databaseName = "perennial";
const startDeadlineMs = 30_000;
/** Each process that uses this Postgres holds this lock shared. The process that gets it exclusively is the last and stops Postgres. */
const inUseLock = 4_155_217;

interface Cluster {
  directory: string;
  data: string;
  passwords: Passwords;
  run: RunProgram;
}

/**
 * Opens the Postgres whose data is in `folder`. Creates the cluster if there is none, starts it if it does not run, and joins
 * it if it does, also if the process that started it was killed. The last process that releases it stops it.
 * @throws OperatorError if that is not possible, for example without the binaries.
 */
export async function openEmbedded(folder: string) {
  return open(folder).catch((error: Error) => {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(
      `DATABASE_URL is missing, and the embedded Postgres cannot run here: ${error.message}\nSet it to a Postgres of your own, for example DATABASE_URL=postgresql://perennial_web:secret@db.example:5432/perennial`,
      { cause: error },
    );
  });
}

async function open(folder: string) {
  const run = await findPostgresBinaries(join(folder, "postgres/data"));
  await mkdir(folder, { recursive: true });
  // Without symbolic links, as the system names the working directory of Postgres.
  const directory = join(await realpath(folder), "postgres");
  if (/["$`]/.test(directory))
    throw new Error(`pg_ctl's shell misreads " $ and \` in the name of the folder ${directory}`);
  const passwords = (await readPasswords(directory)) ?? (await createCluster(directory, run));
  const cluster: Cluster = { directory, data: join(directory, "data"), passwords, run };
  const holder = await joinCluster(cluster);
  const url = (role: "owner" | "web" | "admin") =>
    `postgresql://perennial_${role}:${passwords[role]}@127.0.0.1:${holder.port}/${databaseName}`;
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
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (code !== "EACCES") throw error;
    throw new OperatorError(
      `${directory} belongs to another user. Start as that user, or move it away to begin with an empty database.`,
    );
  }
}

/** Creates the cluster under a temporary name and renames it, so that neither a kill nor a concurrent start leaves half of one. */
async function createCluster(directory: string, run: RunProgram): Promise<Passwords> {
  const draft = await mkdtemp(`${directory}.new-`);
  const data = join(draft, "data");
  try {
    const secret = () => randomBytes(24).toString("hex");
    const passwords: Passwords = { superuser: secret(), owner: secret(), web: secret(), admin: secret() };
    await writeFile(join(draft, "passwords.json"), JSON.stringify(passwords), { mode: 0o600 });
    const passwordFile = join(draft, "initdb-password");
    await writeFile(passwordFile, passwords.superuser, { mode: 0o600 });
    const authentication = ["--auth=scram-sha-256", "--username=postgres", `--pwfile=${passwordFile}`];
    // Terse: the details of an error quote the row.
    const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "log_error_verbosity=terse"];
    const options = ["--encoding=UTF8", "--locale=C", ...settings.map((setting) => `--set=${setting}`)];
    await run("initdb", ["-D", data, ...authentication, ...options]);
    await rm(passwordFile);
    // Without a server; each line is a statement. No other application uses the database, so no role needs temporary tables.
    const statements = [
      `CREATE ROLE perennial_owner LOGIN CREATEROLE PASSWORD '${passwords.owner}'`,
      `CREATE DATABASE ${databaseName} OWNER perennial_owner`,
      `REVOKE TEMPORARY ON DATABASE ${databaseName} FROM PUBLIC`,
    ];
    await run("postgres", ["--single", "-D", data, "-c", "exit_on_error=on", "postgres"], statements.join("\n"));
    await rename(draft, directory);
    return passwords;
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // A concurrent start may have been faster.
    const passwords = await readPasswords(directory);
    if (passwords) return passwords;
    throw error;
  }
}

/**
 * Connects and starts Postgres until both work: another process may be starting or stopping it. Returns a connection that holds
 * inUseLock.
 */
async function joinCluster(cluster: Cluster): Promise<pg.Client> {
  const deadline = Date.now() + startDeadlineMs;
  for (;;) {
    const holder = await hold(cluster);
    if (holder) return holder;
    try {
      await start(cluster);
    } catch (error) {
      if (Date.now() > deadline) {
        const log = join(cluster.directory, "postgres.log");
        throw new Error(`${(error as Error).message}; its log is ${log}`, { cause: error });
      }
      await sleep(250);
    }
  }
}

/** Returns undefined if this cluster does not run, or is being stopped. The next attempt to start it reports the reason. */
async function hold({ data, passwords }: Cluster): Promise<pg.Client | undefined> {
  const { port } = await readLock(data);
  if (!port) return undefined;
  const target = { host: "127.0.0.1", port, database: "postgres", ssl: false, connectionTimeoutMillis: 5_000 };
  const client = new pg.Client({ ...target, user: "postgres", password: passwords.superuser });
  client.on("error", () => undefined); // The next query fails.
  try {
    await client.connect();
    const { rows } = await client.query("SHOW data_directory");
    // A copy of the folder has the passwords of the original.
    if (rows[0].data_directory !== data) throw new Error("Another cluster listens on the port");
    await client.query("SELECT pg_advisory_lock_shared($1)", [inUseLock]);
    return client;
  } catch {
    await client.end().catch(() => undefined);
    return undefined;
  }
}

async function leave({ data, run }: Cluster, holder: pg.Client): Promise<void> {
  try {
    await holder.query("SELECT pg_advisory_unlock_shared($1)", [inUseLock]);
    const { rows } = await holder.query("SELECT pg_try_advisory_lock($1) AS alone", [inUseLock]);
    if (rows[0].alone) await run("pg_ctl", ["stop", "-D", data, "-m", "fast", "-w"]);
  } catch {
    // Postgres ended first.
  } finally {
    await holder.end();
  }
}

async function start({ directory, data, run }: Cluster): Promise<void> {
  const { pid, port: last } = await readLock(data);
  /*
   * Postgres refuses to start while the process named in its lock file is alive. After a kill, that number may belong to an
   * unrelated process; in a container it usually does. The working directory of a postmaster is its data directory. If the
   * working directory is not readable, the lock stays: a running postmaster ends itself without the file.
   */
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => data);
  if (folder !== data) await rm(lockFile(data), { force: true });
  // After a kill the same port, so that a running site can reconnect.
  const port = last && (await isFree(last)) ? last : await freePort();
  const options = ["-w", "-t", "30", "-l", join(directory, "postgres.log"), "-o", `-p ${port}`];
  await run("pg_ctl", ["start", "-D", data, ...options]);
}

const lockFile = (data: string) => join(data, "postmaster.pid");

/** Returns what the lock file names: the process of Postgres, and its port. */
async function readLock(data: string) {
  const lines = (await readFile(lockFile(data), "utf8").catch(() => "")).split("\n");
  return { pid: lines[0], port: Number(lines[3]) };
}

/**
 * Returns a port of 127.0.0.1 that no program uses. The system takes ports from 32768 up for outgoing connections and for
 * programs that listen on port 0.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(20_000, 32_768);
  return (await isFree(port)) ? port : freePort();
}
