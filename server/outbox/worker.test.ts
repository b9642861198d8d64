// The notification worker beside another application's queue; tests/start/notify.test.ts tests its own.
import { pino } from "pino";
import { expect, it } from "vitest";
import { createTestDatabase, superuserUrl } from "../../tests/support/database.ts";
import { queryAs } from "../../tests/support/query.ts";
import { sendNotifications } from "./worker.ts";

it("takes no jobs from another application's queue", async () => {
  const database = await createTestDatabase();
  const { pathname, username } = new URL(database.webUrl);
  const superuser = superuserUrl(pathname.slice(1));
  await queryAs(superuser, `CREATE SCHEMA graphile_worker AUTHORIZATION ${username}`);
  const send = () => Promise.reject(new Error("nothing is to be sent"));
  const sending = sendNotifications(superuser, send, pino({ enabled: false }), new AbortController().signal);
  await expect(sending).rejects.toThrow(`graphile_worker belongs to "${username}"`);
  await database.drop();
});
