// PgBouncer, which gives the session of one client to the next: migrations, and the site's check of its role.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../server/database/embedded/free-port.ts";
import { migrate } from "../../server/database/migrate.ts";
import { examineWebRole } from "../../server/database/web-role.ts";
import { webStatements } from "../../server/models/waitlist.ts";
import { queryAs, startPostgres, type Postgres } from "../support/postgres.ts";
import { findProgram, until } from "../support/run.ts";

const withDatabase = (url: string, name: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href;
const withUser = (url: string, username: string) => Object.assign(new URL(url), { username }).href;

/** Asserts that no lock is left, and that the sessions of the pool have their roles' own settings. */
async function assertClean(url: string, lockTimeout = "0"): Promise<void> {
  // Postgres ends a closed session a moment later.
  const held = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 72707369";
  await until("no lock is left", async () => (await queryAs(url, held)).length === 0);
  for (let i = 0; i < 5; i++) {
    const settings = "SELECT current_setting('search_path') AS path, current_setting('lock_timeout') AS timeout";
    assert.deepEqual(await queryAs(url, settings), [{ path: '"$user", public', timeout: lockTimeout }]);
  }
}

export async function migrateThroughPoolers(): Promise<string> {
  const postgres = await startPostgres();
  try {
    for (const mode of ["session", "transaction"]) {
      await withPgBouncer(postgres, mode, async (url) => {
        for (const clients of [1, 8]) await migrateThrough(url, postgres, `${mode}_${clients}`, clients);
      });
    }
  } finally {
    await postgres.release();
  }
  return "empty databases migrated by 1 and 8 owners in session and in transaction mode; no lock left";
}

async function migrateThrough(url: Through, postgres: Postgres, name: string, clients: number): Promise<void> {
  await queryAs(postgres.superuserUrl, `CREATE DATABASE ${name} OWNER perennial_owner`);
  const direct = { ownerUrl: withDatabase(postgres.ownerUrl, name), webUrl: withDatabase(postgres.webUrl, name) };
  const worker = { url: withUser(direct.webUrl, "perennial_worker"), tasks: ["webhook" as const] };
  const settings = { ...direct, worker };
  const pooled = { ...settings, ownerUrl: url(direct.ownerUrl) };
  // Other clients take each free session.
  const done = new AbortController();
  const others = Array.from({ length: 4 }, async () => {
    while (!done.signal.aborted) await queryAs(pooled.ownerUrl, "SELECT pg_sleep(0.01)");
  });
  const runs = await Promise.all(Array.from({ length: clients }, () => migrate(pooled))).finally(async () => {
    done.abort();
    await Promise.all(others);
  });
  const applied = runs.flat();
  assert(applied.length > 0 && new Set(applied).size === applied.length, "a migration was applied twice");
  // Migrating that fails leaves no lock either.
  const rename = (from: string, to: string) =>
    queryAs(direct.ownerUrl, `UPDATE public._prisma_migrations SET checksum = replace(checksum, '${from}', '${to}')`);
  await rename("a", "g");
  await assert.rejects(migrate(pooled), /A version before/);
  await assertClean(pooled.ownerUrl);
  await rename("g", "a");
  for (const again of [settings, pooled]) assert.deepEqual(await migrate(again), []);
  assert.equal(await examineWebRole(url(direct.webUrl), false, webStatements), "");
  await assertClean(url(direct.webUrl));
}

/** Returns the URL of a database through the pooler. */
type Through = (direct: string) => string;

/** Runs PgBouncer in front of the Postgres. */
async function withPgBouncer<T>(
  { ownerUrl, webUrl }: Pick<Postgres, "ownerUrl" | "webUrl">,
  mode: string,
  use: (url: Through) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "perennial-pgbouncer-"));
  await chmod(folder, 0o755); // It refuses to run as root.
  const { port: postgresPort } = new URL(ownerUrl);
  const port = await freePort();
  const roles = [ownerUrl, webUrl].map((url) => new URL(url));
  const users = roles.map(({ username, password }) => `"${username}" "${password}"\n`);
  const files = { users: join(folder, "users.txt"), settings: join(folder, "pgbouncer.ini") };
  await writeFile(files.users, users.join(""));
  // The tests' own connections (queryAs) also set idle_in_transaction_session_timeout.
  const settings = `
[databases]
* = host=127.0.0.1 port=${postgresPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${files.users}
pool_mode = ${mode}
ignore_startup_parameters = lock_timeout,statement_timeout,idle_in_transaction_session_timeout
`;
  await writeFile(files.settings, settings);
  const pooler = spawn(findProgram("pgbouncer"), ["-q", "-u", "nobody", files.settings], { stdio: "ignore" });
  const url: Through = (direct) => Object.assign(new URL(direct), { port: `${port}` }).href;
  try {
    await until("PgBouncer responds", () => queryAs(url(ownerUrl), "SELECT").catch(() => undefined));
    return await use(url);
  } finally {
    pooler.kill("SIGKILL");
    await rm(folder, { recursive: true });
  }
}
