// Which URL each program needs.
import { expect, it } from "vitest";
import { exampleUrl, type DatabaseUrlName } from "../config/database-urls.ts";
import { readConfig } from "../config/load-config.ts";
import { openDatabase, type OpenedDatabase } from "./settings.ts";

const open = (given: DatabaseUrlName, own: DatabaseUrlName) =>
  openDatabase(readConfig({ [given]: exampleUrl(given), WEBHOOK_URL: "http://127.0.0.1:1/hook" }), own, false);

it.each<[DatabaseUrlName, (database: OpenedDatabase) => unknown]>([
  ["DATABASE_URL", ({ webUrl }) => webUrl],
  ["DATABASE_OWNER_URL", ({ ownerUrl }) => ownerUrl],
  ["DATABASE_ADMIN_URL", ({ adminUrl }) => adminUrl],
  ["WORKER_DATABASE_URL", ({ worker }) => worker?.url],
])("a program with %s needs no other URL, and names it if another one is set", async (own, read) => {
  expect(read(await open(own, own))).toBe(exampleUrl(own));
  const other = own === "DATABASE_ADMIN_URL" ? "DATABASE_OWNER_URL" : "DATABASE_ADMIN_URL";
  await expect(open(other, own)).rejects.toThrow(`${own} is not set. Set it, for example ${own}=${exampleUrl(own)}`);
});
