// Connections that Postgres ends during the work.
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestDatabase, superuserUrl, type TestDatabase } from "../../tests/support/database.ts";
import { queryAs } from "../../tests/support/query.ts";
import { withConnection } from "./connect.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

it("a connection that ended between two statements is reported as lost", async () => {
  const work = withConnection(database.ownerUrl, async (client) => {
    const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    const ended = new Promise((resolve) => client.once("end", resolve));
    await queryAs(superuserUrl("postgres"), "SELECT pg_terminate_backend($1)", [rows[0]?.pid]);
    await ended;
    await client.query("SELECT");
  });
  await expect(work).rejects.toMatchObject({
    name: "ConnectionError",
    code: "CONNECTION_LOST",
    message: "The connection to Postgres was lost.",
  });
});
