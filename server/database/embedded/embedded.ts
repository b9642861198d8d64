// The embedded Postgres for a machine without one.
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { Cluster, databaseName } from "./cluster.ts";
import { findPostgresBinaries } from "./postgres-binaries.ts";

export interface EmbeddedDatabase {
  ownerUrl: string;
  webUrl: string;
  adminUrl: string;
  /** The folder of the data. */
  directory: string;
  /** Stops Postgres, unless another process of this project still uses it. */
  release(): Promise<void>;
}

/**
 * Opens the Postgres whose data is in `folder`. Creates the cluster if there is none, starts it if it does not run, and joins
 * it if it does, also if the process that started it was killed.
 * @throws OperatorError if that is not possible, for example without the binaries.
 */
export async function openEmbedded(folder: string): Promise<EmbeddedDatabase> {
  const binaries = await findPostgresBinaries(folder);
  const directory = await realpath(folder); // Postgres reports its data directory without symbolic links.
  const cluster = new Cluster(join(directory, "postgres"), binaries);
  await cluster.create();
  const holder = await cluster.join();
  const url = (user: string, password: string) =>
    `postgresql://${user}:${password}@127.0.0.1:${holder.port}/${databaseName}`;
  return {
    ownerUrl: url("perennial_owner", cluster.passwords.owner),
    webUrl: url("perennial_web", cluster.passwords.web),
    adminUrl: url("perennial_admin", cluster.adminPassword),
    directory: cluster.directory,
    release: () => cluster.leave(holder),
  };
}
