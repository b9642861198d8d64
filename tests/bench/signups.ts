// Sign-ups against pgbench: the same row into the same Postgres, also where millions are there already.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { migrate, type DatabaseUrls } from "../../server/database/migrate.ts";
import type { Postgres } from "../support/postgres.ts";

const insert = String.raw`\set r random(1, 1000000000000000)
INSERT INTO earlyaccess (id, name, email, company, job_title)
VALUES (gen_random_uuid(), 'Ada Lovelace', 'ada' || :r || '@example.com', 'Analytical Engines', 'Engineer')
ON CONFLICT DO NOTHING;
`;

export function writePgbenchScript(folder: string): string {
  const path = join(folder, "insert.sql");
  writeFileSync(path, insert);
  return path;
}

/** A database of its own with that many entries, and nothing left to be written or cleaned up. */
export async function createFilledDatabase(
  postgres: Postgres,
  rows: number,
  name = `bench_${rows}`,
): Promise<DatabaseUrls> {
  await withClient(postgres.superuserUrl, async (client) => {
    await client.query(`CREATE DATABASE ${name} OWNER perennial_owner`);
  });
  const inDatabase = (url: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href;
  const urls = { ownerUrl: inDatabase(postgres.ownerUrl), webUrl: inDatabase(postgres.webUrl) };
  await migrate(urls);
  await withClient(inDatabase(postgres.superuserUrl), async (client) => {
    await client.query(
      `INSERT INTO earlyaccess (id, name, email, company, job_title)
       SELECT gen_random_uuid(), 'Ada Lovelace', 'person' || i || '@example.com', 'Analytical Engines', 'Engineer'
       FROM generate_series(1, $1::int) i`,
      [rows],
    );
    await client.query("VACUUM ANALYZE earlyaccess");
    await client.query("CHECKPOINT");
  });
  return urls;
}

/** What pgbench does, for where there is none: ten connections, each with one prepared INSERT at a time. */
export async function insertLoopRate(databaseUrl: string, seconds: number): Promise<number> {
  const clients = Array.from({ length: 10 }, () => new pg.Client(databaseUrl));
  await Promise.all(clients.map((client) => client.connect()));
  const text =
    "INSERT INTO earlyaccess (id, name, email, company, job_title) VALUES (gen_random_uuid(), $1, $2, $3, $4) ON CONFLICT DO NOTHING";
  const end = performance.now() + seconds * 1000;
  let inserted = 0;
  await Promise.all(
    clients.map(async (client, i) => {
      while (performance.now() < end) {
        const email = `ada${i}.${performance.now()}@example.com`;
        await client.query({ name: "insert", text, values: ["Ada Lovelace", email, "Analytical Engines", "Engineer"] });
        inserted++;
      }
      await client.end();
    }),
  );
  return inserted / seconds;
}

async function withClient(url: string, use: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await use(client);
  await client.end();
}
