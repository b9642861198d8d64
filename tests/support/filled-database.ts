// A migrated database with many entries.
import { migrate } from "../../server/database/migrate.ts";
import type { DatabaseUrls } from "../../server/database/roles.ts";
import type { Postgres } from "./postgres.ts";
import { queryAs } from "./query.ts";

/** Leaves nothing for Postgres to write or clean up later. */
export async function createFilledDatabase(postgres: Postgres, rows: number): Promise<DatabaseUrls> {
  const name = `filled_${rows}`;
  await queryAs(postgres.superuserUrl, `CREATE DATABASE ${name} OWNER perennial_owner`);
  const inDatabase = (url: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href;
  const urls = { ownerUrl: inDatabase(postgres.ownerUrl), webUrl: inDatabase(postgres.webUrl) };
  await migrate(urls);
  const superuserUrl = inDatabase(postgres.superuserUrl);
  await queryAs(
    superuserUrl,
    `INSERT INTO earlyaccess (id, name, email, company, job_title)
     SELECT gen_random_uuid(), 'Ada Lovelace', 'person' || i || '@example.com', 'Analytical Engines', 'Engineer'
     FROM generate_series(1, $1::int) i`,
    [rows],
  );
  await queryAs(superuserUrl, "VACUUM ANALYZE earlyaccess");
  await queryAs(superuserUrl, "CHECKPOINT");
  return urls;
}
