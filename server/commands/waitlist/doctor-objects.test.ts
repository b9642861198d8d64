// What the doctor finds in a damaged schema, and that the SQL it prints repairs the damage.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, superuserUrl, type TestDatabase } from "../../../tests/support/database.ts";
import { queryAs, withClient } from "../../../tests/support/query.ts";
import { migrate } from "../../database/migrate.ts";
import { examineObjects } from "./doctor-objects.ts";
import type { Finding } from "./finding.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

function findings({ ownerUrl } = database): Promise<Finding[]> {
  return withClient(ownerUrl, async (client) => {
    const found: Finding[] = [];
    for await (const finding of examineObjects(client, "the owner")) found.push(finding);
    return found;
  });
}

const fine = [
  {
    verdict: "ok",
    what: "Objects",
    text: "as the migrations make them: 1 enum, 4 functions, 3 tables, 26 columns, 4 constraints, 3 indexes, 4 triggers",
  },
];

/** The SQL that follows 'run:', copied with the indentation of the terminal. */
function printedSql({ text }: Finding): string {
  const lines = text.replaceAll("\n", "\n         ").split("\n");
  const start = lines.findIndex((line) => line.endsWith('As "the owner", run:'));
  return lines.slice(start + 1).join("\n");
}

const signUp = (name: string) =>
  `INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), '${name}', '${name}@example.com', 'C')`;

beforeEach(async () => {
  await database.query("DELETE FROM earlyaccess");
  await database.query(signUp("ada"));
  await database.query("UPDATE earlyaccess SET status = 'invited'");
});

/** Each damage, and below it the beginning of each finding. */
const damages = `
DROP TRIGGER earlyaccess_status ON earlyaccess
  problem trigger earlyaccess_status of public.earlyaccess is missing. As "the owner", run: CREATE TRIGGER
ALTER TABLE earlyaccess DISABLE TRIGGER earlyaccess_status
  problem trigger earlyaccess_status of public.earlyaccess is changed. It is now: CREATE TRIGGER
DROP TRIGGER earlyaccess_status ON earlyaccess; CREATE TRIGGER earlyaccess_status AFTER INSERT ON earlyaccess FOR EACH ROW EXECUTE FUNCTION earlyaccess_log_status()
  problem trigger earlyaccess_status of public.earlyaccess is changed. It is now: CREATE TRIGGER earlyaccess_status AFTER INSERT
DROP TRIGGER earlyaccess_keep_sign_up ON earlyaccess
  problem trigger earlyaccess_keep_sign_up of public.earlyaccess is missing.
CREATE OR REPLACE FUNCTION earlyaccess_only_grows() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'
  problem function public.earlyaccess_only_grows() is changed.
ALTER FUNCTION earlyaccess_log_status() SECURITY INVOKER RESET ALL
  problem function public.earlyaccess_log_status() is changed.
DROP FUNCTION earlyaccess_log_status() CASCADE
  problem function public.earlyaccess_log_status() is missing.
  problem trigger earlyaccess_status of public.earlyaccess is missing.
DROP INDEX earlyaccess_email_key
  problem index public.earlyaccess_email_key of public.earlyaccess is missing.
DROP INDEX earlyaccess_email_key; CREATE INDEX earlyaccess_email_key ON earlyaccess (email)
  problem index public.earlyaccess_email_key of public.earlyaccess is changed.
ALTER TABLE earlyaccess DROP CONSTRAINT earlyaccess_email_lower_case
  problem constraint earlyaccess_email_lower_case of public.earlyaccess is missing.
ALTER TABLE earlyaccess DROP CONSTRAINT earlyaccess_email_lower_case, ADD CONSTRAINT earlyaccess_email_lower_case CHECK (email = lower(email)) NOT VALID
  problem constraint earlyaccess_email_lower_case of public.earlyaccess is changed.
ALTER TABLE earlyaccess DROP CONSTRAINT earlyaccess_pkey
  problem constraint earlyaccess_pkey of public.earlyaccess is missing.
CREATE FUNCTION earlyaccess_hide() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; CREATE TRIGGER "Hide" BEFORE INSERT ON earlyaccess FOR EACH ROW EXECUTE FUNCTION earlyaccess_hide()
  problem trigger "Hide" of public.earlyaccess is unexpected: no migration of this version makes it. If neither a newer version nor anybody else needs it, drop it.
  problem function public.earlyaccess_hide() is unexpected: no migration of this version makes it.
CREATE RULE nothing AS ON INSERT TO earlyaccess DO INSTEAD NOTHING
  problem rule nothing of public.earlyaccess is unexpected
CREATE POLICY mine ON earlyaccess USING (status = 'joined')
  problem policy mine of public.earlyaccess is unexpected
ALTER TABLE earlyaccess ADD CONSTRAINT few CHECK (id IS NULL) NOT VALID
  problem constraint few of public.earlyaccess is unexpected
CREATE UNIQUE INDEX one_name ON earlyaccess (name)
  problem index public.one_name of public.earlyaccess is unexpected
CREATE INDEX by_name ON earlyaccess (name)
  warning index public.by_name of public.earlyaccess is unexpected
ALTER TABLE earlyaccess ADD COLUMN note text
  warning column note of public.earlyaccess is unexpected: no migration of this version makes it. If it was renamed, rename it back.
DELETE FROM earlyaccess; ALTER TABLE earlyaccess ADD COLUMN note text NOT NULL
  problem column note of public.earlyaccess is unexpected
CREATE TABLE earlyaccess_old (id serial PRIMARY KEY); CREATE VIEW earlyaccess_view AS SELECT 1; CREATE SEQUENCE earlyaccess_seq; CREATE TYPE earlyaccess_kind AS ENUM ('a')
  warning view public.earlyaccess_view is unexpected
  warning sequence public.earlyaccess_seq is unexpected
  warning table public.earlyaccess_old is unexpected
  warning enum public.earlyaccess_kind is unexpected`;

const cases = damages
  .trim()
  .split(/\n(?! )/)
  .map((lines) => lines.split("\n  ") as [string, ...string[]]);

describe("the doctor says what is wrong, and its SQL repairs", () => {
  it.each(cases)("%s", async (damage, ...beginnings) => {
    expect(await findings()).toEqual(fine);
    await database.query(damage);
    const found = await findings();
    expect(
      found.map(({ verdict, text }, i) => `${verdict} ${text.replaceAll(/\s+/g, " ")}`.slice(0, beginnings[i]?.length)),
    ).toEqual(beginnings);
    for (const finding of found) await database.query(printedSql(finding));
    expect(await findings()).toEqual(fine);
    await migrate(database);
    await database.query("DELETE FROM earlyaccess");
    await queryAs(database.webUrl, signUp("zoe"));
    await database.query("UPDATE earlyaccess SET status = 'joined'");
  });
});

describe("the doctor says what is wrong with an object that holds data, and prints no SQL", () => {
  it.each([
    [
      "DROP TABLE earlyaccess_status_changes",
      "table public.earlyaccess_status_changes is missing. If it was renamed, rename it back. Its SQL is in prisma/migrations, its data in a backup.",
    ],
    [
      "DROP TABLE earlyaccess",
      "table public.earlyaccess is missing. If it was renamed, rename it back. Its SQL is in prisma/migrations, its data in a backup.",
    ],
    [
      "ALTER TABLE earlyaccess SET UNLOGGED, ENABLE ROW LEVEL SECURITY",
      "table public.earlyaccess is changed. It is now: SET UNLOGGED, ENABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY It should be: SET LOGGED, DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY",
    ],
    [
      "ALTER TABLE earlyaccess DROP COLUMN suspected_spam",
      "column suspected_spam of public.earlyaccess is missing. If it was renamed, rename it back. Its SQL is in prisma/migrations, its data in a backup.",
    ],
    [
      "ALTER TABLE earlyaccess ALTER name TYPE text",
      "column name of public.earlyaccess is changed. It is now: text, NOT NULL It should be: character varying(100), NOT NULL",
    ],
    [
      "ALTER TABLE earlyaccess ALTER status SET DEFAULT 'joined'",
      "column status of public.earlyaccess is changed. It is now: public.earlyaccess_status, NOT NULL, DEFAULT 'joined'::public.earlyaccess_status It should be: public.earlyaccess_status, NOT NULL, DEFAULT 'waiting'::public.earlyaccess_status",
    ],
    [
      "ALTER TYPE earlyaccess_status RENAME VALUE 'left' TO 'gone'",
      "enum public.earlyaccess_status is changed. It is now: 'waiting', 'invited', 'joined', 'gone' It should be: 'waiting', 'invited', 'joined', 'left'",
    ],
  ])("%s", async (damage, text) => {
    const damaged = await createTestDatabase();
    await damaged.query(damage);
    const [first] = await findings(damaged);
    expect([first?.verdict, first?.text.replaceAll(/\s+/g, " ")]).toEqual(["problem", text]);
    await damaged.drop();
  });
});

it("the doctor finds an index that Postgres did not finish", async () => {
  const superuser = superuserUrl(new URL(database.ownerUrl).pathname.slice(1));
  await queryAs(
    superuser,
    "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'earlyaccess_email_key'::regclass",
  );
  const [finding, ...others] = await findings();
  expect(finding).toMatchObject({ verdict: "problem", text: expect.stringContaining("btree (email), INVALID\n") });
  expect(others).toEqual([]);
  await database.query(printedSql(finding as Finding));
  expect(await findings()).toEqual(fine);
});

it("the doctor ignores whether notices and imports have their triggers enabled", async () => {
  await migrate({ ...database, senderUrl: database.notifyUrl });
  await database.query("ALTER TABLE earlyaccess ENABLE TRIGGER earlyaccess_keep_sign_up");
  expect(await findings()).toEqual(fine);
});

it("the doctor warns of a value that Postgres cannot remove from an enum", async () => {
  await database.query("ALTER TYPE earlyaccess_status ADD VALUE 'vip'");
  expect(await findings()).toEqual([
    {
      verdict: "warning",
      what: "Objects",
      text: "enum public.earlyaccess_status is changed. It is now:\n  'waiting', 'invited', 'joined', 'left', 'vip'\nIt should be:\n  'waiting', 'invited', 'joined', 'left'",
    },
  ]);
});
