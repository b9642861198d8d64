// A real Postgres in a folder of its own, which goes when it stops.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEmbedded, type EmbeddedDatabase } from "../../server/database/embedded.ts";

export interface Postgres extends EmbeddedDatabase {
  superuserUrl: string;
}

export async function startPostgres(): Promise<Postgres> {
  const folder = await mkdtemp(join(tmpdir(), "perennial-postgres-"));
  const postgres = await openEmbedded(folder);
  const passwords = JSON.parse(await readFile(join(postgres.directory, "passwords.json"), "utf8")) as {
    superuser: string;
  };
  const superuser = new URL(postgres.ownerUrl);
  superuser.username = "postgres";
  superuser.password = passwords.superuser;
  superuser.pathname = "/postgres";
  return {
    ...postgres,
    superuserUrl: superuser.href,
    release: async () => {
      await postgres.release();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
