// What migrating reports of the web role, and what it resets.
import { beforeEach, expect, it } from "vitest";
import { createEmptyDatabase, insertEntry, type TestDatabase } from "../../tests/support/database.ts";
import { queryAs } from "../../tests/support/postgres.ts";
import { migrate } from "./migrate.ts";

let database: TestDatabase;
let name: string;

beforeEach(async () => {
  database = await createEmptyDatabase();
  name = database.name;
  await migrate(database);
});

/** Replaces the words for the database and its roles by their names. */
const named = (text: string) =>
  text.replaceAll(/\b(database|owner|web|group)\b/g, (word) => (word === "database" ? name : `${name}_${word}`));

/** The group passes nothing on by itself: its member must SET ROLE. */
const joinGroup = "CREATE ROLE group; GRANT group TO web; ALTER ROLE web NOINHERIT";

it.each([
  [
    "SELECT on public.earlyaccess, UPDATE on public.earlyaccess",
    `${joinGroup}; GRANT UPDATE ON earlyaccess TO group; GRANT SELECT (email) ON earlyaccess TO group`,
  ],
  [
    "DELETE on public.earlyaccess, MAINTAIN on public.earlyaccess, REFERENCES on public.earlyaccess, TRIGGER on public.earlyaccess, TRUNCATE on public.earlyaccess",
    `${joinGroup}; GRANT DELETE, TRUNCATE, TRIGGER, MAINTAIN, REFERENCES ON earlyaccess TO group`,
  ],
  ["CREATE on SCHEMA public", "GRANT CREATE ON SCHEMA public TO PUBLIC"],
  ["ownership of DATABASE database", "ALTER DATABASE database OWNER TO web; GRANT CREATE ON SCHEMA public TO owner"],
  [
    "CREATE on SCHEMA public, ownership of SCHEMA public",
    "ALTER SCHEMA public OWNER TO web; GRANT CREATE ON SCHEMA public TO owner",
  ],
  ["BYPASSRLS, CREATEDB, CREATEROLE, REPLICATION", "ALTER ROLE web BYPASSRLS CREATEDB CREATEROLE REPLICATION"],
  ["SUPERUSER", `${joinGroup}; ALTER ROLE group SUPERUSER`],
  ["the rights of pg_execute_server_program", `${joinGroup}; GRANT pg_execute_server_program TO group`],
  ["the setting synchronous_commit=off", "ALTER ROLE owner NOCREATEROLE; ALTER ROLE web SET synchronous_commit = off"],
])("the web role is reported if it has %s, until an administrator runs the report's statements", async (held, sql) => {
  await database.asSuperuser(named(sql));
  const { warnings } = await migrate(database);
  expect(warnings).toEqual([expect.stringContaining(named(`"web", has ${held}. No`))]);
  for (const statement of warnings[0]?.match(/^ {2}.*;$/gm) ?? []) await database.asSuperuser(statement);
  expect(await migrate(database)).toEqual({ applied: [], warnings: [] });
});

it("a web role that made itself read-only stores sign-ups again, and keeps its other settings", async () => {
  const settings = ["default_transaction_read_only = on", "synchronous_commit = off", "statement_timeout = '1950ms'"];
  for (const setting of settings) {
    await queryAs(
      database.webUrl,
      `BEGIN READ WRITE; ALTER ROLE ${name}_web SET ${setting}; ALTER ROLE ${name}_web IN DATABASE ${name} SET ${setting}; COMMIT`,
    );
  }
  await migrate(database);
  await queryAs(database.webUrl, insertEntry);
  const kept = await database.query(
    "SELECT setconfig FROM pg_db_role_setting WHERE setrole = to_regrole($1) ORDER BY setdatabase",
    [`${name}_web`],
  );
  expect(kept.map(({ setconfig }) => setconfig)).toEqual([
    ["idle_in_transaction_session_timeout=30s", "statement_timeout=1950ms"],
    ["statement_timeout=1950ms"],
  ]);
});
