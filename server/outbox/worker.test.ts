// The worker beside another application's queue; tests/start/ tests its own.
import { pino } from "pino";
import { expect, it } from "vitest";
import { createTestDatabase, superuserUrl } from "../../tests/support/database.ts";
import { queryAs } from "../../tests/support/query.ts";
import { runWorker } from "./worker.ts";

it("takes no jobs from another application's queue", async () => {
  const database = await createTestDatabase();
  const { pathname, username } = new URL(database.webUrl);
  const superuser = superuserUrl(pathname.slice(1));
  await queryAs(superuser, `CREATE SCHEMA graphile_worker AUTHORIZATION ${username}`);
  const tasks = { announce: () => Promise.reject(new Error("nothing is to be sent")) };
  const working = runWorker({ url: superuser, tasks }, pino({ enabled: false }), new AbortController().signal);
  await expect(working).rejects.toThrow(`graphile_worker belongs to "${username}"`);
  await database.drop();
});
