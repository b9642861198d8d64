// The worker beside another application's queue; tests/start/ tests its own.
import { pino } from "pino";
import { expect, it } from "vitest";
import { createTestDatabase, superuserUrl } from "../../tests/support/database.ts";
import { queryAs } from "../../tests/support/query.ts";
import { withConnection } from "../database/connect.ts";
import { runWorker } from "./worker.ts";

it("takes no jobs from another application's queue", async () => {
  const database = await createTestDatabase();
  const { pathname, username } = new URL(database.webUrl);
  const superuser = superuserUrl(pathname.slice(1));
  await queryAs(superuser, `CREATE SCHEMA graphile_worker AUTHORIZATION ${username}`);
  const tasks = { webhook: () => Promise.reject(new Error("nothing is to be sent")) };
  const log = pino({ enabled: false });
  const working = withConnection(superuser, (holder) =>
    runWorker(holder, { url: superuser, tasks }, log, new AbortController().signal),
  );
  await expect(working).rejects.toThrow(`graphile_worker belongs to "${username}"`);
  await database.drop();
});
