// What the doctor finds in a damaged schema, and what it says the schema should be.
import type pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestDatabase, superuserUrl, type TestDatabase } from "../../../../tests/support/database.ts";
import { connectTo } from "../../../database/client.ts";
import { examineObjects } from "./objects.ts";
import type { Finding } from "./finding.ts";

/** Each damage, and below it each finding: " | " is a line break, and "…" at the end stands for the rest. */
const damages = `
SELECT
  ok as the migrations make them: 1 enum, 7 functions, 6 tables, 42 columns, 9 constraints, 5 indexes, 8 triggers
ALTER TABLE earlyaccess ENABLE TRIGGER earlyaccess_announce, ENABLE TRIGGER earlyaccess_keep_sign_up
  ok as the migrations make them: …
DROP TRIGGER earlyaccess_status ON earlyaccess
  problem trigger earlyaccess_status of public.earlyaccess is missing. It should be: | CREATE TRIGGER earlyaccess_status AFTER UPDATE ON public.earlyaccess FOR EACH ROW WHEN ((old.status IS DISTINCT FROM new.status)) EXECUTE FUNCTION public.earlyaccess_log_status();
ALTER TABLE earlyaccess DISABLE TRIGGER earlyaccess_status
  problem trigger earlyaccess_status of public.earlyaccess is changed. It is now: | CREATE TRIGGER earlyaccess_status AFTER UPDATE ON public.earlyaccess FOR EACH ROW WHEN ((old.status IS DISTINCT FROM new.status)) EXECUTE FUNCTION public.earlyaccess_log_status(); -- DISABLE | It should be: | CREATE TRIGGER earlyaccess_status AFTER UPDATE ON public.earlyaccess FOR EACH ROW WHEN ((old.status IS DISTINCT FROM new.status)) EXECUTE FUNCTION public.earlyaccess_log_status();
DROP TRIGGER earlyaccess_status ON earlyaccess; CREATE TRIGGER earlyaccess_status AFTER INSERT ON earlyaccess FOR EACH ROW EXECUTE FUNCTION earlyaccess_log_status()
  problem trigger earlyaccess_status of public.earlyaccess is changed. It is now: | CREATE TRIGGER earlyaccess_status AFTER INSERT ON public.earlyaccess FOR EACH ROW EXECUTE FUNCTION public.earlyaccess_log_status(); | It should be: | CREATE TRIGGER earlyaccess_status AFTER UPDATE …
DROP TRIGGER earlyaccess_keep_sign_up ON earlyaccess
  problem trigger earlyaccess_keep_sign_up of public.earlyaccess is missing. It should be: | CREATE TRIGGER earlyaccess_keep_sign_up BEFORE INSERT ON public.earlyaccess FOR EACH ROW WHEN ((new.import_id IS NULL)) EXECUTE FUNCTION public.earlyaccess_keep_sign_up(); -- DISABLE
CREATE OR REPLACE FUNCTION earlyaccess_only_grows() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'
  problem function public.earlyaccess_only_grows() is changed. It is now: | CREATE OR REPLACE FUNCTION public.earlyaccess_only_grows() | RETURNS trigger | LANGUAGE plpgsql | AS $function$BEGIN RETURN NULL; END$function$; | It should be: | CREATE OR REPLACE FUNCTION …
ALTER FUNCTION earlyaccess_log_status() SECURITY INVOKER RESET ALL
  problem function public.earlyaccess_log_status() is changed. It is now: | CREATE OR REPLACE FUNCTION …
DROP FUNCTION earlyaccess_log_status() CASCADE
  problem function public.earlyaccess_log_status() is missing. It should be: | CREATE OR REPLACE FUNCTION …
  problem trigger earlyaccess_status of public.earlyaccess is missing. It should be: | CREATE TRIGGER …
DROP INDEX earlyaccess_email_key
  problem index public.earlyaccess_email_key of public.earlyaccess is missing. It should be: | CREATE UNIQUE INDEX earlyaccess_email_key ON public.earlyaccess USING btree (email);
DROP INDEX earlyaccess_email_key; CREATE INDEX earlyaccess_email_key ON earlyaccess (email)
  problem index public.earlyaccess_email_key of public.earlyaccess is changed. It is now: | CREATE INDEX earlyaccess_email_key ON public.earlyaccess USING btree (email); | It should be: | CREATE UNIQUE INDEX earlyaccess_email_key ON public.earlyaccess USING btree (email);
RESET ROLE; UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'earlyaccess_email_key'::regclass
  problem index public.earlyaccess_email_key of public.earlyaccess is changed. It is now: | CREATE UNIQUE INDEX earlyaccess_email_key ON public.earlyaccess USING btree (email); -- INVALID | It should be: | CREATE UNIQUE INDEX earlyaccess_email_key ON public.earlyaccess USING btree (email);
ALTER TABLE earlyaccess DROP CONSTRAINT earlyaccess_email_lower_case
  problem constraint earlyaccess_email_lower_case of public.earlyaccess is missing. It should be: | CHECK (((email)::text = lower((email)::text)))
ALTER TABLE earlyaccess DROP CONSTRAINT earlyaccess_email_lower_case, ADD CONSTRAINT earlyaccess_email_lower_case CHECK (email = lower(email)) NOT VALID
  problem constraint earlyaccess_email_lower_case of public.earlyaccess is changed. It is now: | CHECK (((email)::text = lower((email)::text))) NOT VALID | It should be: | CHECK (((email)::text = lower((email)::text)))
ALTER TABLE earlyaccess DROP CONSTRAINT earlyaccess_pkey
  problem constraint earlyaccess_pkey of public.earlyaccess is missing. It should be: | PRIMARY KEY (id)
DROP TABLE earlyaccess_status_changes
  problem table public.earlyaccess_status_changes is missing. If it was renamed, rename it back. Its data is in a backup. It should be: | SET LOGGED, DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY
DROP TABLE earlyaccess
  problem table public.earlyaccess is missing. If it was renamed, rename it back. Its data is in a backup. It should be: | SET LOGGED, DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY
ALTER TABLE earlyaccess SET UNLOGGED, ENABLE ROW LEVEL SECURITY
  problem table public.earlyaccess is changed. It is now: | SET UNLOGGED, ENABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY | It should be: | SET LOGGED, DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY
ALTER TABLE earlyaccess DROP COLUMN disposable_email
  problem column disposable_email of public.earlyaccess is missing. If it was renamed, rename it back. Its data is in a backup. It should be: | boolean, NOT NULL, DEFAULT false
ALTER TABLE earlyaccess ALTER name TYPE text
  problem column name of public.earlyaccess is changed. It is now: | text, NOT NULL | It should be: | character varying(100), NOT NULL
ALTER TABLE earlyaccess ALTER status SET DEFAULT 'joined'
  problem column status of public.earlyaccess is changed. It is now: | public.earlyaccess_status, NOT NULL, DEFAULT 'joined'::public.earlyaccess_status | It should be: | public.earlyaccess_status, NOT NULL, DEFAULT 'waiting'::public.earlyaccess_status
ALTER TYPE earlyaccess_status RENAME TO status
  problem enum public.earlyaccess_status is missing. Its data is in a backup. It should be: | 'waiting', 'invited', 'joined', 'left'
  problem column status of public.earlyaccess is changed. It is now: | public.status, NOT NULL, …
  problem column new_status of public.earlyaccess_status_changes is changed. …
  problem column old_status of public.earlyaccess_status_changes is changed. …
ALTER TYPE earlyaccess_status RENAME VALUE 'left' TO 'gone'
  problem enum public.earlyaccess_status is changed. It is now: | 'waiting', 'invited', 'joined', 'gone' | It should be: | 'waiting', 'invited', 'joined', 'left'
ALTER TYPE earlyaccess_status ADD VALUE 'vip'
  warning enum public.earlyaccess_status is changed. It is now: | 'waiting', 'invited', 'joined', 'left', 'vip' | It should be: | 'waiting', 'invited', 'joined', 'left'
CREATE FUNCTION earlyaccess_hide() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; CREATE TRIGGER "Hide" BEFORE INSERT ON earlyaccess FOR EACH ROW EXECUTE FUNCTION earlyaccess_hide()
  problem trigger "Hide" of public.earlyaccess is unexpected: no migration of this version makes it. If neither a newer version nor anybody else needs it, drop it.
  problem function public.earlyaccess_hide() is unexpected: no migration of this version makes it. If neither a newer version nor anybody else needs it, drop it.
CREATE RULE nothing AS ON INSERT TO earlyaccess DO INSTEAD NOTHING
  problem rule nothing of public.earlyaccess is unexpected: no migration …
CREATE POLICY mine ON earlyaccess USING (status = 'joined')
  problem policy mine of public.earlyaccess is unexpected: no migration …
ALTER TABLE earlyaccess ADD CONSTRAINT few CHECK (id IS NULL) NOT VALID
  problem constraint few of public.earlyaccess is unexpected: no migration …
CREATE UNIQUE INDEX one_name ON earlyaccess (name)
  problem index public.one_name of public.earlyaccess is unexpected: no migration …
CREATE INDEX by_name ON earlyaccess (name)
  warning index public.by_name of public.earlyaccess is unexpected: no migration …
ALTER TABLE earlyaccess ADD COLUMN note text
  warning column note of public.earlyaccess is unexpected: no migration of this version makes it. If it was renamed, rename it back. If neither a newer version nor anybody else needs it, drop it.
ALTER TABLE earlyaccess ADD COLUMN note text NOT NULL
  problem column note of public.earlyaccess is unexpected: no migration …
CREATE TABLE earlyaccess_old (id serial PRIMARY KEY); CREATE VIEW earlyaccess_view AS SELECT 1; CREATE SEQUENCE earlyaccess_seq; CREATE TYPE earlyaccess_kind AS ENUM ('a')
  warning view public.earlyaccess_view is unexpected: no migration …
  warning sequence public.earlyaccess_seq is unexpected: no migration …
  warning table public.earlyaccess_old is unexpected: no migration of this version makes it. If it was renamed, rename it back. If neither …
  warning enum public.earlyaccess_kind is unexpected: no migration …
CREATE TYPE "earlyaccess_\\nRun: x" AS ENUM ()
  warning enum public."earlyaccess_?Run: x" is unexpected: no migration …
CREATE TABLE "earlyaccess_\\nRun: x" (); ALTER TABLE earlyaccess ADD CONSTRAINT "a\\nRun: x" CHECK (true)
  problem constraint "a?Run: x" of public.earlyaccess is unexpected: no migration …
  warning table public."earlyaccess_?Run: x" is unexpected: no migration …`;

const cases = damages
  .trim()
  .split(/\n(?! )/)
  .map((lines) => lines.split("\n  ") as [string, ...string[]]);

let database: TestDatabase;
let client: pg.Client;
let owner: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const { pathname, username } = new URL(database.ownerUrl);
  owner = username;
  client = await connectTo(superuserUrl(pathname.slice(1)));
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

/** Damages the schema in a transaction that is rolled back. */
async function examineAfter(damage: string): Promise<Finding[]> {
  await client.query("BEGIN");
  try {
    await client.query(`SET LOCAL ROLE ${owner}; SET LOCAL search_path = public; ${damage}`);
    await client.query(`SET LOCAL ROLE ${owner}; SET LOCAL search_path = pg_catalog, pg_temp`);
    const found: Finding[] = [];
    for await (const finding of examineObjects(client)) found.push(finding);
    return found;
  } finally {
    await client.query("ROLLBACK");
  }
}

it.each(cases)("the doctor examines the objects after: %s", async (damage, ...expected) => {
  const findings = await examineAfter(damage.replaceAll(String.raw`\n`, "\n"));
  const texts = findings.map(({ verdict, text }) => `${verdict} ${text.replaceAll(/\s*\n\s*/g, " | ")}`);
  expect(texts.map((text, i) => abbreviate(text, expected[i]))).toEqual(expected);
});

/** Cuts the text where the pattern ends with "…". */
function abbreviate(text: string, pattern = ""): string {
  return pattern.endsWith("…") ? `${text.slice(0, pattern.length - 1)}…` : text;
}
