// waitlist export: CSV and JSON lines, the apostrophes before formulas, and the round trip of CSV through import.
import fs from "node:fs";
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import fc from "fast-check";
import { beforeEach, expect, it, vi } from "vitest";
import { guard, unguard } from "../../server/models/operators/csv-guard.ts";
import { fieldColumns } from "../../server/database/columns.ts";
import { toUtf16 } from "../../server/models/operators/export.ts";
import { createWaitlistFixture, insertEntries } from "../support/waitlist-fixture.ts";

const { database, file, waitlist, entries, add } = await createWaitlistFixture();

beforeEach(() => database.query("TRUNCATE earlyaccess"));

async function exportList(...options: string[]): Promise<string> {
  const { code, stdout, stderr } = await waitlist(["export", ...options]);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
}

const columns =
  `${fieldColumns.join()},status,created_at,confirmed_at,mail_refusal,suspected_spam,` +
  "utm_source,utm_medium,utm_campaign,utm_term,utm_content,referrer_host,imported,id";

it("export quotes special characters and empty text in CSV, and writes the same columns as JSON lines", async () => {
  const name = 'Ada "Countess", Lovelace';
  const columnsOfAda = { job_title: "two\nlines", mail_refusal: "=550", suspected_spam: true, utm_source: "" };
  const [created_at, confirmed_at] = ["2026-01-02T03:04:05.678Z", "2026-01-03T02:00:00+02:00"];
  await add(name, "ada@example.com", { ...columnsOfAda, created_at, confirmed_at });
  const [{ id } = {}] = await entries();
  const laterFields = ",".repeat(fieldColumns.length - 4);
  const cells = `"Ada ""Countess"", Lovelace",ada@example.com,Engines,"two\nlines"${laterFields},waiting,2026-01-02T03:04:05.678Z,2026-01-03T00:00:00.000Z,'=550,true,"",,,,,`;
  expect(await exportList("-")).toBe(`${columns}\n${cells},false,${id as string}\n`);
  const [line = "", ...others] = (await exportList("--format", "ndjson")).split("\n");
  expect(others).toEqual([""]);
  const entry = JSON.parse(line) as object;
  expect(Object.keys(entry).join()).toBe(columns);
  const created = "2026-01-02T03:04:05.678+00:00";
  expect(entry).toMatchObject({ ...columnsOfAda, name, created_at: created, utm_medium: null });
});

it.each([[], ["--excel"]])(
  "every text, date, status and flag is the same after export %s and import, but not the confirmation",
  async (...options) => {
    const created_at = "2026-01-02T03:04:05.678Z";
    const others = {
      created_at,
      confirmed_at: created_at,
      status: "joined",
      suspected_spam: true,
    };
    const text = `'=1;"\\\\ ,+-@＝\u2028ï¼Na 🚀`;
    const fields = {
      name: text,
      email: "=1'`{|}@example.com",
      company: "@a",
      job_title: "'quoted'",
      utm_source: "news",
    };
    const utm_content = text.replace("@", ""); // No source holds an "@".
    await insertEntries(database, [{ ...fields, utm_content, referrer_host: "blog.example", ...others }]);
    // Several pieces of 64 KB, which end within a character.
    const long = { name: "名".repeat(100), company: "名".repeat(200), ...others };
    await insertEntries(
      database,
      Array.from({ length: 200 }, (_, i) => ({ ...long, email: `${i}@example.com` })),
    );
    const before = await entries();
    await rm(file("round-trip.csv"), { force: true });
    await exportList(file("round-trip.csv"), ...options);
    if (options.length > 0) {
      expect(await readFile(file("round-trip.csv"), "utf16le")).toMatch(/^\uFEFFname\temail\tcompany\t/);
    }
    await database.query("TRUNCATE earlyaccess");
    expect(await waitlist(["import", file("round-trip.csv")])).toMatchObject({ code: 0, stderr: "" });
    const changed = { id: expect.any(String) as string, imported: true, confirmed_at: null };
    expect(await entries()).toEqual(before.map((row) => Object.assign(row, changed)));
  },
);

it("export --excel writes the same text wherever a chunk of its stream ends", async () => {
  const text = "名é🚀\tZoë\n";
  const bytes = Buffer.from(text);
  for (let cut = 0; cut <= bytes.length; cut++) {
    const chunks = Readable.from([bytes.subarray(0, cut), bytes.subarray(cut)]);
    const written = await buffer(toUtf16(chunks));
    expect([cut, written.toString("utf16le")]).toEqual([cut, `\uFEFF${text}`]);
  }
});

/** The names in CSV or in JSON lines. */
const names = async (...options: string[]) =>
  (await exportList(...options)).match(/(?<=^|^\{"name":")[A-Z]\w+(?="?,)/gm)?.toSorted();

it("export filters by period, flag, confirmation and status", async () => {
  await add("One", "one@example.com", { created_at: "2026-01-01T23:59:59Z", confirmed_at: "2026-01-03T00:00:00Z" });
  await add("Two", "two@example.com", { created_at: "2026-01-02T00:00:00Z", status: "invited" });
  await add("Three", "three@example.com", { created_at: "2026-01-02T23:59:59Z", suspected_spam: true });
  await add("Four", "four@example.com", { created_at: "2026-01-03T00:00:00Z", suspected_spam: true });
  await add("Five", "five@example.com", { created_at: "2026-01-04T00:00:00Z", suspected_spam: true, status: "joined" });
  expect(await names()).toEqual(["Five", "Four", "One", "Three", "Two"]);
  expect(await names("--since", "2026-01-02", "--until", "2026-01-02")).toEqual(["Three", "Two"]);
  expect(await names("--until", "2026-01-02T01:00+01:00")).toEqual(["One"]);
  expect(await names("--without-flagged")).toEqual(["One", "Two"]);
  expect(await names("--confirmed")).toEqual(["One"]);
  expect(await names("--status", "invited")).toEqual(["Two"]);
  expect(await names("--status", "invited", "--format", "ndjson")).toEqual(["Two"]);
});

it.each(["2024-02-29", "0d", "400d"])("export takes %s as a whole day in UTC", async (day) => {
  const days = Number.parseInt(day, 10);
  const start = day.includes("-") ? Date.parse(day) : (Math.floor(Date.now() / 86_400_000) - days) * 86_400_000;
  const end = start + 86_400_000;
  for (const [name, time] of Object.entries({ Before: start - 1, First: start, Last: end - 1, After: end })) {
    await add(name, `${name.toLowerCase()}@example.com`, { created_at: new Date(time).toISOString() });
  }
  expect(await names("--since", day, "--until", day)).toEqual(["First", "Last"]);
});

it("export writes the complete file or none, readable by its owner only, and replaces none", async () => {
  await add("Ada", "ada@example.com");
  const list = file("list.csv");
  await writeFile(`${list}.part`, "of another export");
  expect((await waitlist(["export", list])).stderr).toMatch(/list\.csv\.part cannot be written: EEXIST\. /);
  expect(await readFile(`${list}.part`, "utf8")).toBe("of another export");
  await rm(`${list}.part`);
  const broken = await waitlist(["export", list], { DATABASE_OWNER_URL: database.webUrl });
  expect(broken).toEqual({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^permission denied for .*\. Set DATABASE_OWNER_URL to /),
  });
  expect((await readdir(file())).filter((name) => name.startsWith("list"))).toEqual([]);
  expect(await exportList(list)).toBe(`Wrote 1 entry to ${list}.\n`);
  expect((await stat(list)).mode & 0o777).toBe(0o600);
  expect(await waitlist(["export", list])).toMatchObject({
    code: 1,
    stderr: `${list} exists already. Nothing was changed.\n`,
  });
});

it("export to a read-only file system, as a container's is, says to redirect stdout", async () => {
  const refuse = ((...args: unknown[]) => {
    const done = args.at(-1) as (error: Error) => void;
    done(Object.assign(new Error("EROFS"), { code: "EROFS", syscall: "open" }));
  }) as typeof fs.open;
  vi.spyOn(fs, "open").mockImplementationOnce(refuse);
  expect(await waitlist(["export", file("read-only.csv")])).toEqual({
    code: 1,
    stdout: "",
    stderr: `${file("read-only.csv.part")} cannot be written: EROFS. To write a file from a container, redirect stdout: docker compose run --rm -T waitlist … > FILE\n`,
  });
});

async function guardAll(cells: string[]): Promise<string[]> {
  const sql = `SELECT ${guard("cell")} AS guarded FROM unnest($1::text[]) WITH ORDINALITY AS list(cell, i) ORDER BY i`;
  const rows = await database.query(sql, [cells]);
  return rows.map(({ guarded }) => guarded as string);
}

it("export guards what a spreadsheet takes for a formula, and nothing else", async () => {
  const cells = ["=1", "'=1", "'quoted'", "a=b+c-d@e", "＝1", "a\t=1", 'a;"=1"', "\r"];
  const guarded = ["'=1", "''=1", "'quoted'", "a=b+c-d@e", "'＝1", "a\t'=1", `a;'"=1"`, "'\r"];
  expect(await guardAll(cells)).toEqual(guarded);
  expect(guarded.map(unguard)).toEqual(cells);
});

const unit = fc.oneof(
  fc.constantFrom(...Array.from("'\";\t\r\n=+-@＝＋－＠a \\\u0085")),
  fc.string({ unit: "grapheme", maxLength: 1 }),
);

it("export guards every formula in any text, and unguard restores the text", async () => {
  const texts = fc.array(fc.string({ unit }), { minLength: 1000, maxLength: 1000, size: "max" });
  const property = fc.asyncProperty(texts, async (cells) => {
    const guarded = await guardAll(cells);
    for (const cell of guarded) expect(cell).not.toMatch(/(^|[;\t\r\n])"*[=+\-@＝＋－＠]|^[\t\r]/);
    expect(guarded.map(unguard)).toEqual(cells);
  });
  // The report of a failure names its seed.
  await fc.assert(property, { numRuns: 10, endOnFailure: true });
});
