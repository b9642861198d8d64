// Faults of the database. Pages stay up, no sign-up is confirmed without being stored, and the site recovers by itself.
import { chown, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Stack, StackScenarios } from "../support/stack.ts";
import { openWire, type Wire } from "../support/tcp-proxy.ts";
import { endure } from "./endure.ts";

export const faults: StackScenarios = {
  "Postgres is killed": (stack) =>
    endure(stack, {
      begin: () => stack.postgres.signal("SIGKILL"),
      end: () => stack.postgres.startAgain(),
    }),
  "Postgres is frozen (SIGSTOP)": (stack) =>
    endure(stack, {
      begin: () => stack.postgres.signal("SIGSTOP"),
      end: () => stack.postgres.signal("SIGCONT"),
    }),
  "Postgres has no free connections": (stack) => {
    let taken: pg.Client[] = [];
    return endure(stack, {
      begin: async () => (taken = await takeAllConnections(stack.postgres.superuserUrl)),
      end: () => Promise.all(taken.map((client) => client.end())),
    });
  },
  "Postgres is read-only": (stack) =>
    endure(stack, {
      begin: () => changeSetting(stack, "SET default_transaction_read_only = on"),
      end: () => changeSetting(stack, "RESET default_transaction_read_only"),
    }),
  "Postgres becomes a standby and is promoted": (stack) =>
    endure(stack, {
      begin: async () => {
        await stack.postgres.stop();
        await makeStandby(join(stack.postgres.directory, "data"));
        await stack.postgres.startAgain();
      },
      end: () => stack.query("SELECT pg_promote()"),
    }),
  "the network to Postgres has a latency of 10 s": (stack) =>
    endureWithProxy(
      stack,
      (proxy) => proxy.delay(10_000),
      (proxy) => proxy.mend(),
    ),
  "open connections to Postgres go silent, as in a failover": (stack) =>
    endureWithProxy(
      stack,
      (proxy) => proxy.stall(),
      (proxy) => proxy.forget(),
    ),
  "another session locks the table": (stack) => {
    const other = new pg.Client(stack.postgres.ownerUrl);
    return endure(stack, {
      begin: async () => {
        await other.connect();
        await other.query("BEGIN; LOCK TABLE earlyaccess IN ACCESS EXCLUSIVE MODE");
      },
      end: () => other.end(),
    });
  },
};

async function endureWithProxy(
  stack: Stack,
  begin: (proxy: Wire) => unknown,
  end: (proxy: Wire) => unknown,
): Promise<string> {
  const proxy = await openWire(stack.postgres.webUrl);
  try {
    const fault = { begin: () => begin(proxy), end: () => end(proxy) };
    return await endure(stack, fault, { DATABASE_URL: proxy.url(stack.postgres.webUrl) });
  } finally {
    await proxy.cut();
  }
}

/** Takes the free connections as a superuser, then terminates those of the site and takes them as well. */
async function takeAllConnections(url: string): Promise<pg.Client[]> {
  const taken: pg.Client[] = [];
  for (let round = 0; round < 3; round++) {
    await taken[0]?.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'perennial-web'",
    );
    for (;;) {
      const client = new pg.Client(url);
      client.on("error", () => undefined);
      const failure = await client.connect().then(
        () => undefined,
        (error: Error & { code?: string }) => error,
      );
      if (failure?.code === "53300") break;
      if (failure) throw failure;
      taken.push(client);
    }
  }
  return taken;
}

async function changeSetting(stack: Stack, change: string): Promise<void> {
  await stack.query(`ALTER SYSTEM ${change}`);
  await stack.query("SELECT pg_reload_conf()");
  await sleep(100); // Each session reads it when the postmaster has told it.
}

async function makeStandby(data: string): Promise<void> {
  const file = join(data, "standby.signal");
  await writeFile(file, "");
  const { uid, gid } = await stat(data);
  await chown(file, uid, gid);
}
