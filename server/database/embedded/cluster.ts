// One Postgres cluster in a folder: created, started, shared by several processes and stopped by the last.
import { createHmac, randomBytes } from "node:crypto";
import { mkdtemp, readFile, readlink, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { freePort, isFree } from "../../http/free-port.ts";
import { OperatorError } from "../../operator-messages.ts";
import type { PostgresBinaries } from "./postgres-binaries.ts";

/** The name of its database, which perennial_owner owns. */
export const databaseName = "perennial";

interface Passwords {
  superuser: string;
  owner: string;
  web: string;
}

const startDeadlineMs = 30_000;
/** Each process that uses this Postgres holds this lock shared. The process that gets it exclusively is the last and stops Postgres. */
const inUseLock = 4_155_217;

/** A connection that holds inUseLock. */
interface Holder {
  client: pg.Client;
  port: number;
}

export class Cluster {
  passwords!: Passwords;
  private readonly data: string;
  private readonly log: string;

  constructor(
    readonly directory: string,
    private readonly binaries: PostgresBinaries,
  ) {
    this.data = join(directory, "data");
    this.log = join(directory, "postgres.log");
  }

  /** Creates the cluster under a temporary name and renames it, so that neither a kill nor a concurrent start leaves half of one. */
  async create(): Promise<void> {
    if (await this.readPasswords()) return;
    const draft = await mkdtemp(`${this.directory}.new-`);
    try {
      await this.initialise(draft);
      await rename(draft, this.directory);
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      const wasFaster = ["ENOTEMPTY", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "");
      if (!wasFaster) throw error;
    }
    if (!(await this.readPasswords())) throw new Error(`${this.directory} holds no Postgres cluster`);
  }

  private async initialise(draft: string): Promise<void> {
    const secret = () => randomBytes(24).toString("hex");
    const passwords: Passwords = { superuser: secret(), owner: secret(), web: secret() };
    const passwordFile = join(draft, "initdb-password");
    const passwordsFile = join(draft, "passwords.json");
    await writeFile(passwordFile, passwords.superuser, { mode: 0o600 });
    await writeFile(passwordsFile, JSON.stringify(passwords), { mode: 0o600 });
    for (const path of [draft, passwordFile, passwordsFile]) await this.binaries.give(path);
    const authentication = ["--auth=scram-sha-256", "--username=postgres", `--pwfile=${passwordFile}`];
    const settings = ["--set=listen_addresses=127.0.0.1", "--set=unix_socket_directories="];
    // Terse: the details of an error quote the row.
    const log = ["--set=log_error_verbosity=terse"];
    const locale = ["--encoding=UTF8", "--locale=C"];
    await this.binaries.run("initdb", ["-D", join(draft, "data"), ...authentication, ...locale, ...settings, ...log]);
    await rm(passwordFile);
  }

  /** Connects and starts Postgres until both work: another process may be starting or stopping it. */
  async join(): Promise<Holder> {
    const deadline = Date.now() + startDeadlineMs;
    for (;;) {
      const holder = await this.hold();
      if (holder) return holder;
      const failure = await this.start().then(
        () => undefined,
        (error: Error) => error,
      );
      if (failure && Date.now() > deadline) {
        throw new OperatorError(`The embedded Postgres does not start; its log is ${this.log}\n${failure.message}`);
      }
      if (failure) await sleep(250);
    }
  }

  /** Derived, because the passwords.json of older clusters has no such password. */
  get adminPassword(): string {
    return createHmac("sha256", this.passwords.superuser).update("perennial_admin").digest("hex");
  }

  async leave(holder: Holder): Promise<void> {
    // With a timeout: a Postgres that hangs must not prevent the shutdown.
    await Promise.race([holder.client.end(), sleep(2_000, undefined, { ref: false })]);
    const last = await this.connect(holder.port);
    if (!last) return;
    try {
      const { rows } = await last.query("SELECT pg_try_advisory_lock($1) AS alone", [inUseLock]);
      if (rows[0].alone) await this.binaries.run("pg_ctl", ["stop", "-D", this.data, "-m", "fast", "-w"]);
    } finally {
      await last.end();
    }
  }

  private async readPasswords(): Promise<boolean> {
    try {
      this.passwords = JSON.parse(await readFile(join(this.directory, "passwords.json"), "utf8")) as Passwords;
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
      if ((error as NodeJS.ErrnoException).code !== "EACCES") throw error;
      throw new OperatorError(
        `${this.directory} belongs to another user. Start as that user, or move it away to begin with an empty database.`,
      );
    }
  }

  private async hold(): Promise<Holder | undefined> {
    const port = await this.runningPort();
    const client = port === undefined ? undefined : await this.connect(port);
    if (!client || port === undefined) return undefined;
    try {
      await client.query("SELECT pg_advisory_lock_shared($1)", [inUseLock]);
    } catch {
      return undefined; // Another process is stopping Postgres.
    }
    await this.createOwner(client);
    return { client, port };
  }

  private async createOwner(client: pg.Client): Promise<void> {
    // A session lock: CREATE DATABASE cannot run in a transaction.
    await client.query("SELECT pg_advisory_lock($1)", [inUseLock + 1]);
    const { rows } = await client.query(
      `SELECT to_regrole('perennial_owner') IS NOT NULL AS role,
              EXISTS (SELECT FROM pg_database WHERE datname = $1) AS database`,
      [databaseName],
    );
    if (!rows[0].role) {
      await client.query(`CREATE ROLE perennial_owner LOGIN CREATEROLE PASSWORD '${this.passwords.owner}'`);
    }
    if (!rows[0].database) {
      await client.query(`CREATE DATABASE ${databaseName} OWNER perennial_owner`);
      // No other application uses it, so no role needs temporary tables.
      await client.query(`REVOKE TEMPORARY ON DATABASE ${databaseName} FROM PUBLIC`);
    }
    await client.query("SELECT pg_advisory_unlock($1)", [inUseLock + 1]);
  }

  private async start(): Promise<void> {
    await this.removeStaleLock();
    const port = await this.choosePort();
    const wait = ["-w", "-t", "30"];
    await this.binaries.run("pg_ctl", ["start", "-D", this.data, ...wait, "-l", this.log, "-o", `-p ${port}`]);
  }

  /** Returns the last port if it is free, so that a running site can reconnect after its Postgres was killed and started again. */
  private async choosePort(): Promise<number> {
    const file = join(this.directory, "port");
    const last = Number(await readFile(file, "utf8").catch(() => ""));
    const port = last && (await isFree(last)) ? last : await freePort();
    await writeFile(file, String(port));
    return port;
  }

  /**
   * Postgres refuses to start while the process named in postmaster.pid is alive. After a kill, that number may belong to an
   * unrelated process; in a container it usually does. The working directory of a postmaster is its data directory. If the
   * working directory is not readable, the lock stays: a running postmaster ends itself without the file.
   */
  private async removeStaleLock(): Promise<void> {
    if (process.platform !== "linux") return;
    const file = join(this.data, "postmaster.pid");
    const pid = (await readFile(file, "utf8").catch(() => "")).split("\n")[0];
    if (!pid) return;
    const workingDirectory = await readlink(`/proc/${pid}/cwd`).catch(() => this.data);
    if (workingDirectory !== this.data) await rm(file, { force: true });
  }

  private async runningPort(): Promise<number | undefined> {
    const lines = (await readFile(join(this.data, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
    return Number(lines[3]) || undefined;
  }

  /** Returns undefined if nothing listens on the port, or another program than this cluster. */
  private async connect(port: number): Promise<pg.Client | undefined> {
    const client = new pg.Client({
      host: "127.0.0.1",
      port,
      user: "postgres",
      password: this.passwords.superuser,
      database: "postgres",
      ssl: false,
      connectionTimeoutMillis: 5_000,
    });
    client.on("error", () => undefined); // Postgres ended first; leave() then has nothing to stop.
    try {
      await client.connect();
      const { rows } = await client.query("SHOW data_directory");
      if (resolve(rows[0].data_directory as string) === this.data) return client;
    } catch {
      // The caller's next attempt to start it reports the reason.
    }
    await client.end().catch(() => undefined);
    return undefined;
  }
}
