// waitlist import: the files that it accepts, and its report.
import { writeFile } from "node:fs/promises";
import { beforeEach, expect, it } from "vitest";
import { fieldErrors } from "../../client/shared/content.ts";
import { readHeader } from "../../server/commands/waitlist/import-columns.ts";
import { migrate } from "../../server/database/migrate.ts";
import { preparationSql } from "../../server/database/roles.ts";
import { fieldNamed } from "../support/copy.ts";
import { queryAs } from "../support/postgres.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";

const { database, file, waitlist, entries, add } = await createWaitlistFixture();

beforeEach(() => database.query("TRUNCATE earlyaccess"));

const importText = async (text: string | Uint8Array, ...options: string[]) => {
  await writeFile(file("import.csv"), text);
  return waitlist(["import", file("import.csv"), ...options]);
};

it("import reads columns in any order and spelling, delimiter, byte order mark and quotes", async () => {
  const text =
    `\uFEFF"E-Mail";NAME;Company;Job title;Created at;Status;Id;\r\n` +
    ";;;;;;\r\n\r\n" +
    'ADA@Example.com;"Ada; ""Countess""";Engines;;2026-01-02 03:04:05+01;Invited;' +
    `${"7".repeat(65_000)}\r` +
    "zoe@münchen.de;Zoë;Bau;Chefin;;;8\r\nida@b.co;Ida;E;;2026-01-01 21:04:05-05;;9\r\n";
  const result = await importText(text);
  expect(result).toMatchObject({ code: 0, stderr: "" });
  expect(result.stdout).toBe(
    "3 lines, 0 already on the list, 0 twice in the file, 0 erased, 0 wrong.\nIgnored columns: Id.\nImported 3.\n",
  );
  const created_at = new Date("2026-01-02T02:04:05Z");
  const stored = await database.query("SELECT * FROM earlyaccess ORDER BY ctid"); // In the order in which sign-ups lock their entries.
  expect(stored).toMatchObject([
    { name: 'Ada; "Countess"', email: "ada@example.com", status: "invited", created_at },
    { name: "Ida", created_at },
    { name: "Zoë", email: "zoe@xn--mnchen-3ya.de", job_title: "Chefin", status: "waiting" },
  ]);
});

it("import sends neither webhooks nor mails", async () => {
  await migrate({ ...database, worker: { url: database.workerUrl, tasks: ["webhook", "mail"] } });
  expect(await importText("name,email,company\nAda,ada@example.com,E\n")).toMatchObject({ code: 0, stderr: "" });
  expect(await entries()).toHaveLength(1);
  expect(await database.query("SELECT FROM graphile_worker.jobs")).toEqual([]);
});

it("import --own takes an export of the list as it is, and queues the mails that are missing", async () => {
  await migrate({ ...database, worker: { url: database.workerUrl, tasks: ["webhook", "mail"] } });
  const created_at = new Date();
  const confirmed_at = new Date();
  await add("Ada", "ada@example.com", { created_at, utm_source: "news" });
  await add("Eve", "eve@example.com", { created_at: "2026-01-02T03:04:05Z", confirmed_at, suspected_spam: true });
  await add("Zoë", "zoe@example.com", { created_at, imported: true, status: "invited" });
  await add("Ben", "ben@example.com", { created_at, mail_refusal: "bounced" });
  await add("Kim", "kim@example.com", { created_at, mail_refusal: "550 5.1.1" });
  const withoutId = () =>
    database.query("SELECT to_jsonb(listed) - 'id' AS entry FROM earlyaccess AS listed ORDER BY email");
  const before = await withoutId();
  await database.query("UPDATE earlyaccess SET mail_refusal = '550 to RCPT TO' WHERE name = 'Ada'");
  const list = (await waitlist(["export"])).stdout.replaceAll("true", "TRUE"); // As Excel saves it.
  await database.query("TRUNCATE earlyaccess; DELETE FROM graphile_worker._private_jobs");
  const { stdout } = await importText(list, "--own");
  expect(stdout).toMatch(/\nIgnored columns: id\.\nImported 5\.\nMails queued: 1\.\n$/);
  expect(await withoutId()).toEqual(before);
  const jobs = await database.query("SELECT task_identifier, key FROM graphile_worker.jobs");
  const [{ id } = {}] = await database.query("SELECT id FROM earlyaccess WHERE name = 'Ada'");
  expect(jobs).toEqual([{ task_identifier: "mail", key: `mail ${String(id)}` }]);
  await database.query("DELETE FROM graphile_worker._private_jobs"); // As after a kill before the mails were queued.
  expect((await importText(list, "--own")).stdout).toMatch(/\nImported 0\.\n(?:.*\n)*Mails queued: 1\.\n$/);
});

it("import --own takes an entry without the column imported as imported", async () => {
  await migrate({ ownerUrl: database.ownerUrl, webUrl: database.webUrl });
  const stdout = expect.stringMatching(/\nImported 1\.\n$/) as string; // The site sends no mails.
  const text = "name,email,company,confirmed_at\nAda,ada@example.com,E,0000-01-01\n";
  expect(await importText(text, "--own")).toEqual({ code: 0, stderr: "", stdout });
  expect(await entries()).toMatchObject([{ email: "ada@example.com", imported: true, confirmed_at: null }]);
});

// In UTF-16, "č" has the byte of CR, "Ь" that of a comma, "अ" before U+0900 the two bytes of a tab.
it.each([
  ["little-endian", (text: string) => Buffer.from(text, "utf16le")],
  ["big-endian", (text: string) => Buffer.from(text, "utf16le").swap16()],
])("import reads %s UTF-16 with tabs, as a spreadsheet writes it, and first and last names", async (_, encode) => {
  const line = "अ\u0900\tЬčЬ\tada@example.com\tA, B; C 🚀\r\n";
  const text = `\uFEFFPočet\tFirst name\tLast name\tEmail\tCompany\r\n${`7\t${line}`.repeat(1_000)}`;
  expect(await importText(encode(text), "--ignore", "Počet")).toMatchObject({ code: 0, stderr: "" });
  expect(await entries()).toMatchObject([{ name: "अ\u0900 ЬčЬ", company: "A, B; C 🚀" }]);
});

it.each([
  [
    'Email,"First Name","Last Name",Company,"Job Title",CREATED_AT',
    'zoe@example.com,Zoë,Müller,E,Chefin,"2026-01-02 03:04:05"',
  ],
  ["id,first_name,email,created_at,Company,Job-Title", "7,Zoë Müller,zoe@example.com,2026-01-02 03:04:05 UTC,E,Chefin"],
  [
    "email,created_at,name,first_name,last_name,company,job_title",
    "zoe@example.com,2026-01-02T03:04:05Z, ,Zoë,Müller,E,Chefin",
  ],
])("import reads %s in UTF-8, and says what to do if the file is in Windows-1252", async (...lines) => {
  const text = `${lines.join("\r\n")}\r\n`;
  const windows = await importText(Buffer.from(text, "latin1"));
  const stderr = `${file("import.csv")} is not UTF-8 at line 2. Save it in UTF-8, for example as "CSV UTF-8". Nothing was changed.\n`;
  expect(windows).toEqual({ code: 1, stdout: "", stderr });
  expect(await importText(text)).toMatchObject({ code: 0, stderr: "" });
  const entry = { name: "Zoë Müller", email: "zoe@example.com", company: "E", job_title: "Chefin" };
  const created_at = new Date("2026-01-02T03:04:05Z");
  expect(await entries()).toMatchObject([{ ...entry, created_at }]);
});

it.each([
  ["email", ["email", "E-Mail", " EMAIL ", "e mail"]],
  ["first_name", ["First name", "FIRST-NAME", "firstname"]],
  ["job_title", ["Job title", "JOB_TITLE"]],
  ["mail_refusal", ["mail_refusal"]],
  [undefined, ["Email Address", "mail", "Full name", "FNAME", "Organization", "Role", "position", "OPTIN_TIME", ""]],
])("import takes for %s the columns %j", (column, names) => {
  expect(new Set(readHeader(names))).toEqual(new Set([column]));
});

it.each(["[id]", "{id}", "<id>", "%PDF", "PK"])("import reads a CSV file whose first column is %s", async (name) => {
  const text = `${name},name,email,company\n<7>,Ada,ada@example.com,{E}\n`;
  expect(await importText(text, "--ignore", name)).toMatchObject({ code: 0, stderr: "" });
  expect(await entries()).toMatchObject([{ name: "Ada", company: "{E}" }]);
});

const unknownColumns = (names: string[]) =>
  `Columns that this list does not know: ${names.join(", ")}. Does one say who unsubscribed or bounced? ` +
  "Remove those people first; then remove these columns or name each with --ignore.\n";

const rename = (...missing: string[]) =>
  `The first line names no column ${missing.join(", ")}. Rename a column, or add one: a name or company may be "unknown".\n`;

it.each<[tool: string, exported: string[], message: string, unknown: string[], corrected: string[]]>([
  [
    "Mailchimp",
    [
      '"Email Address","First Name","Last Name",MEMBER_RATING,OPTIN_TIME,LAST_CHANGED,LEID,EUID,NOTES,TAGS,UNSUB_TIME',
      'zoe@example.com,Zoë,Müller,2,"2026-01-02 03:04:05","2026-01-02 03:04:05",1,7b,,"""Beta""",',
      'eve@example.com,Eve,Doe,2,"2026-01-02 03:04:05","2026-01-02 03:04:05",2,7c,,,"2026-02-03 04:05:06"',
    ],
    rename("email", "company"),
    ["Email Address", "MEMBER_RATING", "OPTIN_TIME", "LAST_CHANGED", "LEID", "EUID", "NOTES", "TAGS", "UNSUB_TIME"],
    [
      'Email,"First Name","Last Name",MEMBER_RATING,OPTIN_TIME,LAST_CHANGED,LEID,EUID,NOTES,TAGS,UNSUB_TIME,Company',
      'zoe@example.com,Zoë,Müller,2,"2026-01-02 03:04:05","2026-01-02 03:04:05",1,7b,,"""Beta""",,unknown',
    ],
  ],
  [
    "Kit",
    [
      "id,first_name,email,state,created_at,Organization,Role",
      "7,Zoë Müller,zoe@example.com,active,2026-01-02 03:04:05 UTC,Engines,Chefin",
      "8,Eve Doe,eve@example.com,cancelled,2026-01-02 03:04:05 UTC,Engines,Chefin",
    ],
    rename("company"),
    ["state", "Organization", "Role"],
    [
      "id,first_name,email,state,created_at,company,Role",
      "7,Zoë Müller,zoe@example.com,active,2026-01-02 03:04:05 UTC,Engines,Chefin",
    ],
  ],
  [
    "Google Contacts",
    [
      "First Name,Middle Name,Last Name,Organization Name,Organization Title,Labels,E-mail 1 - Label,E-mail 1 - Value",
      "Zoë,,Müller,Engines,Chefin,* myContacts,* Work,zoe@example.com",
      "Eve,,Doe,Engines,,Unsubscribed ::: * myContacts,* Work,eve@example.com",
    ],
    rename("email", "company"),
    ["Middle Name", "Organization Name", "Organization Title", "Labels", "E-mail 1 - Label", "E-mail 1 - Value"],
    ["First Name,Last Name,Company,Job title,Email", "Zoë,Müller,Engines,Chefin,zoe@example.com"],
  ],
  [
    "HubSpot",
    [
      "Record ID,First Name,Last Name,Email,Phone Number,Job Title,Company Name,Contact owner,Unsubscribed from all email",
      "901,Zoë,Müller,zoe@example.com,,Chefin,Engines,Ines,false",
      "902,Eve,Doe,eve@example.com,,,Engines,Ines,true",
    ],
    rename("company"),
    ["Record ID", "Phone Number", "Company Name", "Contact owner", "Unsubscribed from all email"],
    [
      "Record ID,First Name,Last Name,Email,Job Title,Company,Contact owner",
      "901,Zoë,Müller,zoe@example.com,Chefin,Engines,Ines",
    ],
  ],
  [
    "Lemon Squeezy",
    [
      "identifier,name,email,status,status_formatted,country,country_formatted,email_sends,unsubscribed_at,created_at",
      "sub_1,Zoë Müller,zoe@example.com,subscribed,Subscribed,DE,Germany,1,,2026-01-02T03:04:05Z",
      "sub_2,Eve Doe,eve@example.com,unsubscribed,Unsubscribed,,,1,2026-02-03T03:04:05Z,2026-01-02T03:04:05Z",
    ],
    `${rename("company")}Line 2: status: not one of waiting, invited, joined, left.\n`,
    ["identifier", "status_formatted", "country", "country_formatted", "email_sends", "unsubscribed_at", "status"],
    [
      "identifier,name,email,status,status_formatted,country,country_formatted,created_at,company",
      "sub_1,Zoë Müller,zoe@example.com,subscribed,Subscribed,DE,Germany,2026-01-02T03:04:05Z,unknown",
    ],
  ],
])(
  "an export of %s imports at the second try, as the first one says",
  async (_, exported, message, unknown, corrected) => {
    const refused = await importText(exported.join("\n"));
    expect(refused).toEqual({ code: 1, stdout: "", stderr: message + unknownColumns(unknown) });
    expect(await entries()).toEqual([]);
    const left = unknown.filter((name) => corrected[0]?.split(",").includes(name));
    const result = await importText(corrected.join("\n"), ...left.flatMap((name) => ["--ignore", name]));
    expect(result).toMatchObject({ code: 0, stderr: "" });
    expect(await entries()).toMatchObject([{ name: "Zoë Müller", email: "zoe@example.com" }]);
  },
);

it.each<[tool: string, columns: string, gone: string]>([
  ["Ghost", "subscribed_to_emails", "false"],
  ["HubSpot", "Unsubscribed from all email,Email hard bounce reason", "true,UNKNOWN_USER"],
  ["listmonk", "Subscription-Status", "blocklisted"],
  ["MailPoet", "List status,Global status", "Unsubscribed,bounced"],
  ["a spreadsheet in German", "Abgemeldet,#", "ja,x"],
])(
  "import takes nobody of a file that says who unsubscribed or bounced, without --ignore: %s",
  async (_, columns, gone) => {
    const text = `name,email,company,${columns}\nEve,eve@example.com,E,${gone}\n`;
    const [first = "", ...others] = columns.split(",");
    const options = [[], ["--own"], ...(others.length > 0 ? [["--ignore", first]] : [])];
    for (const [i, given] of options.entries()) {
      const stderr = unknownColumns(i < 2 ? [first, ...others] : others);
      expect(await importText(text, ...given)).toEqual({ code: 1, stdout: "", stderr });
    }
    expect(await entries()).toEqual([]);
    const { stdout } = await importText(
      text,
      ...[first.toUpperCase(), ...others].flatMap((name) => ["--ignore", name]),
    );
    expect(stdout).toBe(
      `1 lines, 0 already on the list, 0 twice in the file, 0 erased, 0 wrong.\nIgnored columns: ${[first, ...others].join(", ")}.\nImported 1.\n`,
    );
  },
);

it("import stops if --ignore names no column: otherwise, a list of names in one would ignore nothing", async () => {
  const text = "name,email,company,State,Tags\nEve,eve@example.com,E,,\n";
  expect(await importText(text, "--ignore", "State,Tags")).toEqual({
    code: 1,
    stdout: "",
    stderr: "--ignore names no column of the first line: State,Tags. Nothing was changed.\n",
  });
});

it("import takes another tool's status, or a cell of a column without a name, for somebody who may have unsubscribed", async () => {
  const text = "name,email,company,Status,\nAda,ada@example.com,E,Joined,\nEve,eve@example.com,E,unsubscribed,\n";
  const stderr = "Line 3: status: not one of waiting, invited, joined, left.\n";
  expect(await importText(text)).toEqual({ code: 1, stdout: "", stderr: stderr + unknownColumns(["Status"]) });
  const nameless = await importText(text.replace("E,unsubscribed,", "E,,unsubscribed"));
  expect(nameless).toMatchObject({
    code: 1,
    stderr: "Line 3: more cells than the header has names\nNothing was imported.\n",
  });
  expect(await entries()).toEqual([]);
  expect(await importText(text, "--ignore", "status")).toMatchObject({ code: 0, stderr: "" });
  expect(await entries()).toMatchObject([{ name: "Ada", status: "waiting" }, { name: "Eve" }]);
});

it("import skips and counts known and repeated addresses", async () => {
  await add("First", "ada@example.com");
  const known = "Ada,ADA@example.com,E\nAda,ada@example.com,E\n";
  const text = `name,email,company\n${known}Zoe,zoe@example.com,E\n${"Zoë,zoe@example.com,E\n".repeat(9)}Eve,eve@b.co,E\nIda,ida@b.co,E\n`;
  const stdout = "14 lines, 1 already on the list, 10 twice in the file, 0 erased, 0 wrong.\n";
  expect((await importText(text, "--dry-run")).stdout).toBe(`${stdout}Would import 3; nothing was changed.\n`);
  expect(await entries()).toHaveLength(1);
  expect((await importText(text)).stdout).toBe(`${stdout}Imported 3.\n`);
  expect((await entries()).map(({ name }) => name)).toEqual(["First", "Eve", "Ida", "Zoe"]);
});

it.each([1_000, 2_000])("import adds each of %i lines, which fill its batches", async (lines) => {
  const people = Array.from({ length: lines }, (_, i) => `Ada,person${i}@example.com,E\n`);
  const { stdout } = await importText(`name,email,company\n${people.join("")}`);
  expect(stdout).toContain(`\nImported ${lines.toLocaleString("en")}.\n`);
  expect(await entries()).toHaveLength(lines);
});

it("import adds nothing if a line is wrong, and reports 20 of them without personal data", async () => {
  const wrong = "Secret Person,secret.person,E\nSecret,a@example.com,,,\nA,b@example.com,E,unsubscribed,Secret\n";
  const more = "Ada,secret,E\n".repeat(30);
  const { code, stdout, stderr } = await importText(
    `name,email,company,job title\nAda,ada@example.com,E\n\n${wrong}${more}`,
  );
  expect([code, stdout]).toEqual([1, expect.stringMatching(/^34 lines, .* 33 wrong\.\n/)]);
  const lines = stderr.split("\n");
  expect(lines.slice(0, 3)).toEqual([
    `Line 4: email: ${fieldErrors.email}`,
    `Line 5: company: ${fieldErrors.required(fieldNamed("company").noun)}`,
    "Line 6: more cells than the header has names",
  ]);
  expect(lines.slice(20)).toEqual(["… and 13 more.", "Nothing was imported.", ""]);
  expect(stdout + stderr).not.toMatch(/secret/i);
  expect(await entries()).toEqual([]);
});

const notCsv = /^\S+import\.csv is not CSV\. Save it as 'CSV UTF-8'\.\n$/;
const wrongDates = ["01/02/2026", "9999-01-01", "0000-01-01", "2026-01-31 12:00:00 -0500", "2026-01-31 12:00 Z x"];

it.each<[string, string | Uint8Array, RegExp, option?: string]>([
  [
    "a date that is not ISO 8601 or not past",
    `name,email,company,created_at\n${wrongDates.map((date) => `A,a@example.com,C,${date}\n`).join("")}`,
    /^(Line \d: created_at: not a past date like 2026-01-31 or 2026-01-31T18:00:00Z\n){5}/,
  ],
  [
    "an unknown status",
    "name,email,company,status\nA,a@example.com,C,secret\n",
    /^Line 2: status: not one of waiting, invited, joined, left\.\nColumns that this list does not know: status\. /,
  ],
  [
    "a flag in another language",
    "name,email,company,suspected_spam\nA,a@example.com,C,WAHR\n",
    /^Line 2: suspected_spam: not true or false\.\n/,
  ],
  [
    "a refusal that this list does not write, with --own",
    "name,email,company,mail_refusal\nA,a@example.com,C,\nB,b@example.com,C,secret\n",
    /^Line 3: mail_refusal: neither bounced nor a code like 550 5\.1\.1\.\nNothing was imported\.\n$/,
    "--own",
  ],
  [
    "the flags of an older export",
    "name,email,company,suspected_spam,disposable_email,Unusual Volume,State\nSecret,a@example.com,C,f,t,f,x\n",
    /^Flags of an older export: disposable_email, Unusual Volume\. Remove the lines in which .* columns\.\nColumns that .* know: State\. /,
  ],
  [
    "a file without a header",
    "<secret@example.com>,Secret,secret@example.com,Secret\n",
    /^The first line names no column email, name, company\. Rename a column, or add one: a name or company may be "unknown"\.\n$/,
  ],
  ["a first line alone", "name,email,company\n", /^\S+import\.csv has no line below the first one\.\n$/],
  ["two columns for one field", "email,e-mail,name,company\n", /^Two columns are for email\. Remove one, or rename /],
  ["a spreadsheet", "PK\x03\x04\x14\0secret", notCsv],
  ["an old spreadsheet", Buffer.from("D0CF11E0A1B11AE10000", "hex"), notCsv],
  ["a PDF", "%PDF-1.4\nsecret", notCsv],
  ["HTML", "\uFEFF\n<table>secret", notCsv],
  ["XML", '<?xml version="1.0"?>secret', notCsv],
  ["JSON", '\uFEFF[{"name":"secret"}]', notCsv],
  ["JSON lines", '{"name":"secret"}\n', notCsv],
  ["vCards", "BEGIN:VCARD\nFN:Secret\n", notCsv],
  ["UTF-16 without a byte order mark", Buffer.from("name,email,company\nSecret", "utf16le"), notCsv],
  ["a first line over 64 KiB", "secret ".repeat(10_000), notCsv],
  [
    "one column of addresses",
    "Mail address\nsecret@example.com\n",
    /^The first line names no column email, name, company\. /,
  ],
  [
    "a line break in a cell, with the last line of its entry",
    'name,email,company,job title\r\nA,a@example.com,"B\r\nC"\r\n"Secret\rname",b@example.com,C,"D\nE"\r\n',
    /^Line 3: company: a line break\. Write it in one line\.\nLine 6: name: a line break\..* job_title: a line break\..*\n/,
  ],
  [
    "a control character",
    "name,email,company\nA,a@example.com,Secret\x07\n",
    /^Line 2: company: a character that cannot be stored\. Remove it\.\n/,
  ],
  [
    "a quote that is never closed",
    'name,email,company\nA,a@example.com,"Secret\nB,b@example.com,C\n',
    /is not valid CSV at line 3: CSV_QUOTE_NOT_CLOSED\. Look for .* earlier one that is never closed\.\n$/,
  ],
  [
    "a line over 64 KiB",
    `name,email,company\n${"secret ".repeat(10_000)}\n`,
    /is not valid CSV at line 2: CSV_MAX_RECORD_SIZE\. Look for /,
  ],
])("import refuses %s without quoting it, also with --dry-run", async (_, text, message, ...given) => {
  for (const options of [[], ["--dry-run"]]) {
    const { code, stderr } = await importText(text, ...given.filter((option) => option !== undefined), ...options);
    expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
    expect(stderr).not.toMatch(/secret/i);
  }
});

it("import without the right to temporary tables names it, and the SQL for an administrator leaves it and creation to the owner alone", async () => {
  const { name, asSuperuser } = database;
  const { username } = new URL(database.ownerUrl);
  const [statements = ""] = /^GRANT CREATE ON SCHEMA .*^REVOKE TEMPORARY .*?;$/ms.exec(preparationSql(database)) ?? [];
  await asSuperuser(
    `ALTER DATABASE ${name} OWNER TO postgres; REVOKE TEMPORARY ON DATABASE ${name} FROM PUBLIC, ${username}`,
  );
  const { code, stderr } = await importText("name,email,company\nAda,ada@example.com,E\n");
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^permission denied to create temporary tables .*: docs\/postgres\.md, Roles\.\n$/),
  ]);
  await asSuperuser(`GRANT CREATE ON SCHEMA public TO PUBLIC; GRANT TEMPORARY ON DATABASE ${name} TO PUBLIC`);
  await asSuperuser(statements);
  expect(await importText("name,email,company\nAda,ada@example.com,E\n")).toMatchObject({ code: 0, stderr: "" });
  const rights = "has_schema_privilege('public', 'CREATE') OR has_database_privilege(current_database(), 'TEMPORARY')";
  expect(await queryAs(database.webUrl, `SELECT ${rights} AS granted`)).toEqual([{ granted: false }]);
});
