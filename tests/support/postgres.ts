// A real Postgres in a folder of its own, which is deleted when it is released, and SQL as any role.
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { openEmbedded } from "../../server/database/embedded/embedded.ts";

export type Postgres = Awaited<ReturnType<typeof startPostgres>>;

/** @param parent the folder for its own, such as a small disk. */
export async function startPostgres(parent = tmpdir()) {
  const folder = await mkdtemp(join(parent, "perennial-postgres-"));
  const postgres = await openEmbedded(folder);
  const superuser = { username: "postgres", pathname: "/postgres" };
  return {
    ...postgres,
    superuserUrl: Object.assign(new URL(postgres.ownerUrl), superuser).href,
    /** Sends a signal to the postmaster and its child processes. */
    signal: (name: NodeJS.Signals) => {
      const [postmaster] = readFileSync(join(postgres.directory, "data/postmaster.pid"), "utf8").split("\n");
      const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, "utf8").split(" ");
      for (const pid of [postmaster, ...children]) if (pid) process.kill(Number(pid), name);
    },
    release: async () => {
      await postgres.release();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A transaction that a failed test left open must not stop the next ones: Postgres ends it after 40 s. */
export const timeouts = { lock_timeout: 20_000, idle_in_transaction_session_timeout: 40_000 };

/** Runs SQL on a connection of its own, so that a test can act as any role. */
export async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, ...timeouts });
  client.on("error", () => undefined); // The end of a connection also fails its query.
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** Returns the rows of the SQL, or of its last statement. */
export function queryAs(url: string, sql: string, values?: unknown[]): Promise<Record<string, unknown>[]> {
  return withClient(url, async (client) => lastRows(await client.query<Record<string, unknown>>(sql, values)));
}

/** @param result an array if the SQL has several statements. */
export const lastRows = (result: pg.QueryResult<Record<string, unknown>>) => [result].flat().at(-1)?.rows ?? [];

/** Returns the URL of a role of the database alone. */
export const urlOf = (superuserUrl: string, name: string, role: string, password: string) =>
  Object.assign(new URL(superuserUrl), { pathname: `/${name}`, username: `${name}_${role}`, password }).href;

/** Creates a role that owns an empty database of the same name. Returns the URL of the database for a role of it. */
export async function createDatabase(superuserUrl: string, name: string, options = "") {
  await queryAs(superuserUrl, `CREATE ROLE ${name}_owner LOGIN CREATEROLE PASSWORD 'owners-password'`);
  await queryAs(superuserUrl, `CREATE DATABASE ${name} OWNER ${name}_owner ${options}`);
  return {
    ownerUrl: urlOf(superuserUrl, name, "owner", "owners-password"),
    webUrl: urlOf(superuserUrl, name, "web", "it's a long secret"),
    workerUrl: urlOf(superuserUrl, name, "worker", "also a long secret"),
  };
}
