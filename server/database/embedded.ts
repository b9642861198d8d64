// The embedded Postgres for a machine without one.
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { Cluster, databaseName } from "./cluster.ts";
import { findPostgresBinaries } from "./postgres-binaries.ts";

export interface EmbeddedDatabase {
  ownerUrl: string;
  webUrl: string;
  adminUrl: string;
  /** Where the data is kept. */
  directory: string;
  /** Stops Postgres, unless another process of this project still uses it. */
  release(): Promise<void>;
}

/**
 * Opens the Postgres whose data is in `folder`: joins it where it runs (also as the orphan of a killed
 * process), starts it where it does not, makes it where there is none.
 * @throws OperatorError where that cannot be, such as without its binaries.
 */
export async function openEmbedded(folder: string): Promise<EmbeddedDatabase> {
  const binaries = await findPostgresBinaries(folder);
  const directory = await realpath(folder); // As Postgres names its own.
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
