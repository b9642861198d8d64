// A cluster of the Postgres that is installed, whose version may be older than the embedded one's.
import { existsSync, readdirSync } from "node:fs";
import { appendFile, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Cluster } from "../../server/database/cluster.ts";
import { findPostgresBinaries, type Paths, type PostgresBinaries } from "../../server/database/postgres-binaries.ts";

export interface InstalledPostgres {
  cluster: Cluster;
  holder: Awaited<ReturnType<Cluster["join"]>>;
  folder: string;
  /** Where pg_dump is. */
  programs: string;
}

/** Calls `use` with a new cluster, and removes it afterwards. */
export async function withInstalledPostgres<T>(use: (postgres: InstalledPostgres) => Promise<T>): Promise<T> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "perennial-postgres-")));
  try {
    const paths = findPrograms();
    const programs = await findPostgresBinaries(folder, paths);
    const cluster = new Cluster(join(folder, "postgres"), { ...programs, run: withoutSet(programs) });
    await cluster.create();
    const holder = await cluster.join();
    try {
      return await use({ cluster, holder, folder, programs: dirname(paths.initdb) });
    } finally {
      await cluster.leave(holder);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A Postgres with programs of the same version beside it; the package of the embedded one brings no pg_dump. */
function findPrograms(): Paths {
  const parent = "/usr/lib/postgresql";
  const folders = existsSync(parent) ? readdirSync(parent).map((version) => join(parent, version, "bin")) : [];
  const all = ["initdb", "pg_ctl", "postgres", "pg_dump", "pg_restore"];
  const folder = folders.findLast((path) => all.every((name) => existsSync(join(path, name))));
  if (!folder)
    throw new Error("This step needs Debian's package postgresql (version 14 or newer) for pg_dump and a server.");
  return { initdb: join(folder, "initdb"), pg_ctl: join(folder, "pg_ctl"), postgres: join(folder, "postgres") };
}

/** Before Postgres 16 initdb knew no --set; what it would write is added to the file. */
function withoutSet(programs: PostgresBinaries): PostgresBinaries["run"] {
  return async (name, args) => {
    const settings = args.filter((argument) => argument.startsWith("--set="));
    await programs.run(
      name,
      args.filter((argument) => !settings.includes(argument)),
    );
    const lines = settings.map((setting) => setting.replace(/^--set=([^=]+)=(.*)$/, "$1 = '$2'\n"));
    if (name === "initdb") await appendFile(join(args[1] as string, "postgresql.conf"), lines.join(""));
  };
}
