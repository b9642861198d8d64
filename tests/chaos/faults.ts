// Faults of the database: pages go on, nobody is told a success that is not true, and everything recovers by itself.
import { chown, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Site } from "../support/site.ts";
import { openWire, type Wire } from "../support/tcp-proxy.ts";
import { endure } from "./endure.ts";
import type { Scenario, Stand } from "./scenario.ts";

export const faults: Scenario[] = [
  {
    name: "the database is killed",
    run: async (stand) =>
      endure(stand, await stand.startSite(), {
        begin: () => stand.postgres.signal("SIGKILL"),
        end: () => stand.postgres.startAgain(),
      }),
  },
  {
    name: "the database is frozen (SIGSTOP)",
    run: async (stand) =>
      endure(stand, await stand.startSite(), {
        begin: () => stand.postgres.signal("SIGSTOP"),
        end: () => stand.postgres.signal("SIGCONT"),
      }),
  },
  {
    name: "the database is stopped in order",
    run: async (stand) =>
      endure(stand, await stand.startSite(), {
        begin: () => stand.postgres.stop(),
        end: () => stand.postgres.startAgain(),
      }),
  },
  {
    name: "the database is out of connections",
    run: async (stand) => {
      const taken: pg.Client[] = [];
      return endure(stand, await stand.startSite(), {
        begin: () => takeAllConnections(stand, taken),
        end: () => Promise.all(taken.map((client) => client.end())),
      });
    },
  },
  {
    name: "the database is read-only",
    run: async (stand) =>
      endure(stand, await stand.startSite(), {
        begin: () => changeSetting(stand, "SET default_transaction_read_only = on"),
        end: () => changeSetting(stand, "RESET default_transaction_read_only"),
      }),
  },
  {
    name: "the database becomes a standby, and is promoted",
    run: async (stand) =>
      endure(stand, await stand.startSite(), {
        begin: async () => {
          await stand.postgres.stop();
          await makeStandby(join(stand.postgres.directory, "data"));
          await stand.postgres.startAgain();
        },
        end: () => stand.query("SELECT pg_promote()"),
      }),
  },
  {
    name: "the wire to the database is slow (10 s)",
    run: (stand) =>
      throughWire(stand, (wire, site) =>
        endure(stand, site, { begin: () => wire.delay(10_000), end: () => wire.mend() }),
      ),
  },
  {
    name: "the connections to the database fall silent for ever, as in a failover",
    run: (stand) =>
      throughWire(stand, (wire, site) => endure(stand, site, { begin: () => wire.stall(), end: () => wire.forget() })),
  },
  {
    name: "another session holds a lock on the table",
    run: async (stand) => {
      const other = new pg.Client(stand.postgres.ownerUrl);
      await other.connect();
      try {
        return await endure(stand, await stand.startSite(), {
          begin: () => other.query("BEGIN; LOCK TABLE earlyaccess IN ACCESS EXCLUSIVE MODE"),
          end: () => other.query("ROLLBACK"),
        });
      } finally {
        await other.end();
      }
    },
  },
];

async function throughWire(stand: Stand, use: (wire: Wire, site: Site) => Promise<string>): Promise<string> {
  const wire = await openWire(stand.postgres.webUrl);
  try {
    return await use(wire, await stand.startSite({ DATABASE_URL: wire.url(stand.postgres.webUrl) }));
  } finally {
    await wire.cut();
  }
}

/** The superuser takes what is free, ends the site's connections, and takes those. */
async function takeAllConnections(stand: Stand, taken: pg.Client[]): Promise<void> {
  const end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'perennial-web'";
  for (let round = 0; round < 3; round++) {
    await stand.query(end);
    for (;;) {
      const client = new pg.Client(stand.postgres.superuserUrl);
      client.on("error", () => undefined);
      const failure = await client.connect().then(
        () => undefined,
        (error: Error) => error,
      );
      if (failure && (failure as { code?: string }).code !== "53300") throw failure;
      if (failure) break;
      taken.push(client);
    }
  }
}

async function changeSetting(stand: Stand, change: string): Promise<void> {
  await stand.query(`ALTER SYSTEM ${change}`);
  await stand.query("SELECT pg_reload_conf()");
  await sleep(100); // Each session reads it when the postmaster has told it.
}

async function makeStandby(data: string): Promise<void> {
  const file = join(data, "standby.signal");
  await writeFile(file, "");
  const { uid, gid } = await stat(data);
  await chown(file, uid, gid);
}
