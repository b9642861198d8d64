// Runs SQL on a connection of its own, so that a test can act as any role.
import pg from "pg";

export async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url);
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
  return withClient(url, async (client) => {
    const result = await client.query<Record<string, unknown>>(sql, values);
    return [result].flat().at(-1)?.rows ?? [];
  });
}
