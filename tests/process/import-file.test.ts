// waitlist import: the files that it accepts, and its report.
import { writeFile } from "node:fs/promises";
import { beforeEach, expect, it } from "vitest";
import { run } from "../support/run.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";
import { builtWaitlist } from "../support/waitlist.ts";

const { database, file, waitlist, entries, add } = createWaitlistFixture();

beforeEach(() => database.query("TRUNCATE earlyaccess"));

const importText = async (text: string | Uint8Array, ...options: string[]) => {
  await writeFile(file("import.csv"), text);
  return waitlist(["import", file("import.csv"), ...options]);
};

it("import reads another tool's columns, delimiter, byte order mark and quotes", async () => {
  const text =
    `\uFEFF"E-Mail";Full Name;Organisation;Job title;Created at;Status;Id\r\n` +
    'ADA@Example.com;"Ada; ""Countess""";Engines;;2026-01-02 03:04:05+01;Invited;7\r\n' +
    ";;;;;;\r\n\r\n" +
    "zoe@münchen.de;Zoë;Bau;Chefin;01/02/2026;active;8\r\n";
  const result = await importText(text);
  expect(result).toMatchObject({ code: 0, stderr: "" });
  expect(result.stdout).toBe(
    "2 lines, 0 already on the list, 0 twice in the file, 0 wrong.\nIgnored columns: Id.\n" +
      "1 dates are unusable; import uses the current time.\n1 statuses are unknown; import uses waiting.\nImported 2.\n",
  );
  expect(await entries()).toMatchObject([
    {
      name: 'Ada; "Countess"',
      email: "ada@example.com",
      status: "invited",
      created_at: new Date("2026-01-02T02:04:05Z"),
    },
    { name: "Zoë", email: "zoe@xn--mnchen-3ya.de", job_title: "Chefin", status: "waiting" },
  ]);
});

it("import reads tabs, and first and last names", async () => {
  expect(
    await importText("First name\tLast name\tMail\tCompany\nAda\tLovelace\tada@example.com\tA, B; C\n"),
  ).toMatchObject({ code: 0 });
  expect(await entries()).toMatchObject([{ name: "Ada Lovelace", company: "A, B; C" }]);
});

it("import prints at most 20 unknown columns, without their control characters and cut after 100 characters", async () => {
  const hostile = `"\u001B]0;owned\u0007\u001B[2J\n${"x".repeat(200)}"`;
  const more = Array.from({ length: 30 }, (_, i) => `extra${i}`);
  const { code, stdout, stderr } = await importText(`name,email,company,${hostile},${more.join()}\n`);
  const shown = [`?]0;owned??[2J?${"x".repeat(85)}…`, ...more.slice(0, 19)].join(", ");
  const unknown = `Ignored columns: ${shown} and 11 more.\n`;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toBe(`0 lines, 0 already on the list, 0 twice in the file, 0 wrong.\n${unknown}Imported 0.\n`);
});

it("import skips and counts known and repeated addresses", async () => {
  await add("First", "ada@example.com");
  const text = "name,email,company\nAda,ADA@example.com,E\nZoe,zoe@example.com,E\nZoë,zoe@example.com,E\n";
  const stdout = "3 lines, 1 already on the list, 1 twice in the file, 0 wrong.\n";
  expect((await importText(text, "--dry-run")).stdout).toBe(`${stdout}Would import 1; nothing was changed.\n`);
  expect(await entries()).toHaveLength(1);
  expect((await importText(text)).stdout).toBe(`${stdout}Imported 1.\n`);
  expect(await entries()).toMatchObject([{ name: "First" }, { name: "Zoe" }]);
});

it("import counts an address once across batches of lines", async () => {
  await add("First", "ada@example.com");
  const { stdout } = await importText(`name,email,company\n${"Ada,ada@example.com,E\n".repeat(1_100)}`);
  expect(stdout).toBe("1,100 lines, 1 already on the list, 1,099 twice in the file, 0 wrong.\nImported 0.\n");
});

it("imports nothing if a line is wrong, and reports the line without personal data", async () => {
  const text =
    "name,email,company\nAda,ada@example.com,E\n\nSecret Person,secret.person,E\nSecret,a@example.com,,\nA,b@example.com,E,Secret\n";
  const { code, stdout, stderr } = await importText(text);
  expect(code).toBe(1);
  expect(stderr).toBe(
    "Line 4: email: Enter an email address like name@example.com.\nLine 5: company: Enter your company.\n" +
      "Line 6: more cells than the header has\nNothing was imported.\n",
  );
  expect(stdout + stderr).not.toMatch(/secret/i);
  expect(await entries()).toEqual([]);
});

it("import reports 20 wrong lines, and counts the others", async () => {
  const { stdout, stderr } = await importText(`name,email,company\n${"Ada,ada,E\n".repeat(1_025)}`);
  expect(stdout).toBe("1,025 lines, 0 already on the list, 0 twice in the file, 1,025 wrong.\n");
  expect(stderr.split("\n").slice(19)).toEqual([
    "Line 21: email: Enter an email address like name@example.com.",
    "… and 1,005 more.",
    "Nothing was imported.",
    "",
  ]);
});

it("import refuses a line over 64 KiB before it takes much memory", async () => {
  await writeFile(file("long.csv"), `name,email,company\n${"x".repeat(20_000_000)}\n`);
  const env = { DATABASE_URL: database.webUrl, DATABASE_OWNER_URL: database.ownerUrl };
  const command = [process.execPath, builtWaitlist, "import", file("long.csv")] as [string, ...string[]];
  const { code, stderr, peakMegabytes } = await run(command, env);
  expect([code, stderr]).toEqual([1, expect.stringContaining("at line 2: a line is longer than 64 KiB")]);
  expect(peakMegabytes).toBeLessThan(200);
  expect(await entries()).toEqual([]);
});

it.each([
  ["", /is empty\.\n$/],
  ["Secret,secret@example.com,Secret\n", /^The first line names no column for the email\. /],
  ["email,e-mail,name,company\n", /^Two columns are for email\. Remove one\.\n$/],
  [
    'name,email,company\nA,a@example.com,"Secret\nB,b@example.com,C\n',
    /is not valid CSV at line 3: a line is longer than 64 KiB, or an earlier quote is never closed\.\n$/,
  ],
  [
    'name,email,company\nA,a@example.com,C\nB"Secret",b@example.com,C\n',
    /is not valid CSV at line 3: unexpected quote\.\n$/,
  ],
  [Buffer.from("\uFEFFname,email,company\n", "utf16le"), /is UTF-16\. Save it as CSV in UTF-8\.\n$/],
  [Buffer.from("name,email,company\nZo\xEB,a@example.com,C\n", "latin1"), /^Line 2: name: .*cannot be stored/],
])("import refuses %j without quoting it", async (text, message) => {
  const { code, stderr } = await importText(text);
  expect(code).toBe(1);
  expect(stderr).toMatch(message);
  expect(stderr).not.toMatch(/secret/i);
});
