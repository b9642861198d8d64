// The message of backup and restore if pg_dump or pg_restore is missing, as in the image.
import { expect, it } from "vitest";
import { describeMissing } from "./postgres-tools.ts";

it.each([
  [undefined, "pg_restore is not installed here; the image does not include it."],
  [{ path: "/usr/bin/pg_restore", version: 15 }, "/usr/bin/pg_restore is of Postgres 15, which is older"],
])("%j: says what to do instead", (newest, reason) => {
  const message = describeMissing("pg_restore", 18, newest);
  expect(message.startsWith(reason)).toBe(true);
  expect(message).toContain("run: docker compose exec -T database pg_restore …");
  expect(message).toContain("in the project folder, on a machine with Debian's package postgresql-client-18 ");
});
