// waitlist export: CSV and JSON lines, and the round trip of CSV through import.
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { unguard } from "../../server/models/exported-list.ts";
import { parseEntry } from "../../server/models/waitlist-entry.ts";
import { createWaitlistFixture, insertEntries } from "../support/waitlist-fixture.ts";

const { database, file, waitlist, entries, add } = createWaitlistFixture();

beforeEach(() => database.query("TRUNCATE earlyaccess"));

const anyId = expect.any(String) as string;

async function exportList(...options: string[]): Promise<string> {
  const { code, stdout, stderr } = await waitlist(["export", ...options]);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
}

const header =
  "name,email,company,job_title,status,created_at,confirmed_at,mail_refusal,suspected_spam,disposable_email,unusual_volume," +
  "utm_source,utm_medium,utm_campaign,utm_term,utm_content,referrer_host,id\n";

it("CSV quotes special characters and empty text", async () => {
  await add('Ada "Countess", Lovelace', "ada@example.com", {
    job_title: "two\nlines",
    created_at: "2026-01-02T03:04:05.678Z",
    confirmed_at: "2026-01-03T02:00:00+02:00",
    mail_refusal: "550 5.1.1",
    unusual_volume: true,
    utm_source: "",
  });
  const [{ id }] = (await entries()) as [{ id: string }];
  const cells = `"Ada ""Countess"", Lovelace",ada@example.com,Engines,"two\nlines",waiting,2026-01-02T03:04:05.678Z,2026-01-03T00:00:00.000Z,550 5.1.1,f,f,t,"",,,,,`;
  expect(await exportList()).toBe(`${header}${cells},${id}\n`);
});

it("JSON lines have the same columns", async () => {
  await add("Ada", "ada@example.com", { suspected_spam: true, created_at: "2026-01-02T03:04:05.678Z" });
  const [{ id }] = (await entries()) as [{ id: string }];
  expect(await exportList("--format", "ndjson")).toBe(
    '{"name":"Ada","email":"ada@example.com","company":"Engines","job_title":null,"status":"waiting",' +
      '"created_at":"2026-01-02T03:04:05.678+00:00","confirmed_at":null,"mail_refusal":null,"suspected_spam":true,"disposable_email":false,"unusual_volume":false,"utm_source":null,' +
      `"utm_medium":null,"utm_campaign":null,"utm_term":null,"utm_content":null,"referrer_host":null,"id":"${id}"}\n`,
  );
});

describe("every text", () => {
  const hostile = fc.constantFrom(...Array.from("'\"`,;\\=+-@＝＋－＠\u2028\uFEFFï¼Na 🚀"));
  const printable = fc.oneof(hostile, fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }));
  const control = fc.integer({ min: 1, max: 0x9f }).map((code) => String.fromCharCode(code));
  const text = (unit: fc.Arbitrary<string>) => fc.string({ unit, maxLength: 12, size: "max" });
  const anyText = fc.oneof(
    text(fc.oneof(printable, control)),
    fc.constantFrom("\\N", "\\.", "\\", "NULL", '"', "\r\n"),
  );
  const lengths = { minLength: 100, maxLength: 100, size: "max" } as const;
  const columns = ["name", "company", "job_title", "utm_source", "referrer_host"];

  it("is in CSV after its apostrophes are removed, and in JSON lines", async () => {
    const row = fc.record(Object.fromEntries(columns.map((column) => [column, anyText])));
    const property = fc.asyncProperty(fc.array(row, lengths), async (rows) => {
      await database.query("TRUNCATE earlyaccess");
      const stored = rows.map((cells, i) => ({ ...cells, email: `${i}@example.com` }));
      await insertEntries(database, stored);
      const byEmail = (list: Record<string, unknown>[]) =>
        Object.fromEntries(list.map((entry) => [entry.email, columns.map((column) => entry[column])]));
      const csv = parse(await exportList(), { columns: true }) as Record<string, string>[];
      const unguarded = csv.map((cells) => Object.fromEntries(Object.entries(cells).map(([k, v]) => [k, unguard(v)])));
      const lines = (await exportList("--format", "ndjson")).split("\n").slice(0, -1);
      expect(byEmail(unguarded)).toEqual(byEmail(stored));
      expect(byEmail(lines.map((line) => JSON.parse(line) as Record<string, unknown>))).toEqual(byEmail(stored));
    });
    // The report of a failure names its seed.
    await fc.assert(property, { numRuns: 4, endOnFailure: true });
  });

  it("of a sign-up is the same after export and import", async () => {
    const address = text(fc.constantFrom(...Array.from("=+-'`{|}a"))).map((local) => `${local}1@example.com`);
    const source = fc.record({ utm_source: text(printable), utm_content: text(printable), referrer: fc.domain() });
    const body = fc.record({
      name: text(printable),
      email: address,
      company: text(printable),
      job_title: text(printable),
      source,
    });
    const entry = fc
      .tuple(body, fc.boolean(), fc.date({ min: new Date(0), max: new Date(), noInvalidDate: true }))
      .map(([fields, flag, created_at]) => {
        const parsed = parseEntry(fields);
        const changes = { suspected_spam: flag, unusual_volume: !flag, created_at };
        return parsed.ok ? Object.assign(parsed.entry, changes) : undefined;
      });
    const property = fc.asyncProperty(fc.array(entry, lengths), async (drawn) => {
      await database.query("TRUNCATE earlyaccess");
      const byEmail = new Map(drawn.flatMap((one) => (one ? [[one.email, one]] : [])));
      await insertEntries(database, [...byEmail.values()]);
      const before = await entries();
      expect(before.length).toBeGreaterThan(20);
      await exportList(file("round-trip.csv"));
      await database.query("TRUNCATE earlyaccess");
      expect(await waitlist(["import", file("round-trip.csv")])).toMatchObject({ code: 0, stderr: "" });
      const after = before.map((row) => Object.assign(row, { id: anyId, imported: true }));
      expect(await entries()).toEqual(after);
    });
    await fc.assert(property, { numRuns: 4, endOnFailure: true });
  });
});

it("exports confirmed entries only, and import ignores the confirmation", async () => {
  await add("Ada", "ada@example.com", { confirmed_at: "2026-01-03T00:00:00Z", mailed_at: "2026-01-02T00:00:00Z" });
  await add("Zoe", "zoe@example.com", { mailed_at: "2026-01-02T00:00:00Z", mail_refusal: "=550" });
  const columns = ["confirmed_at", "mail_refusal"];
  const csv = parse(await exportList(), { columns: true }) as Record<string, string>[];
  expect(new Map(csv.map((cells) => [cells.name, columns.map((column) => cells[column])]))).toEqual(
    new Map([
      ["Ada", ["2026-01-03T00:00:00.000Z", ""]],
      ["Zoe", ["", "'=550"]],
    ]),
  );
  expect(await exportList("--confirmed", file("confirmed.csv"))).toMatch(/^Wrote 1 entry to /);
  await database.query("TRUNCATE earlyaccess");
  const { code, stdout } = await waitlist(["import", file("confirmed.csv")]);
  expect(code).toBe(0);
  expect(stdout).toContain("\nIgnored columns: confirmed_at, mail_refusal, disposable_email, id.\n");
  expect(await entries()).toMatchObject([{ name: "Ada", confirmed_at: null, mail_refusal: null }]);
});

it("export filters by period, and omits flagged entries", async () => {
  await add("One", "one@example.com", { created_at: "2026-01-01T23:59:59Z" });
  await add("Two", "two@example.com", { created_at: "2026-01-02T00:00:00Z" });
  await add("Three", "three@example.com", { created_at: "2026-01-02T23:59:59Z", suspected_spam: true });
  await add("Four", "four@example.com", { created_at: "2026-01-03T00:00:00Z", disposable_email: true });
  await add("Five", "five@example.com", { created_at: "2026-01-04T00:00:00Z", unusual_volume: true });
  const names = async (...options: string[]) => (await exportList(...options)).match(/^[A-Z]\w+(?=,)/gm)?.toSorted();
  expect(await names()).toEqual(["Five", "Four", "One", "Three", "Two"]);
  expect(await names("--since", "2026-01-02", "--until", "2026-01-02")).toEqual(["Three", "Two"]);
  expect(await names("--until", "2026-01-02T01:00:00+01:00")).toEqual(["One"]);
  expect(await names("--without-flagged")).toEqual(["One", "Two"]);
});

it("export filters by status", async () => {
  for (const status of ["waiting", "invited", "joined", "left"]) await add(status, `${status}@example.com`, { status });
  const names = async (...options: string[]) => {
    const csv = (await exportList(...options)).match(/^[a-z]+(?=,\w+@)/gm)?.toSorted();
    const ndjson = (await exportList("--format", "ndjson", ...options)).match(/(?<="name":")\w+/g)?.toSorted();
    expect(ndjson).toEqual(csv);
    return csv;
  };
  expect(await names("--status", "invited")).toEqual(["invited"]);
  expect(await names("--status", "waiting, joined")).toEqual(["joined", "waiting"]);
});

it("export writes the complete file or none, readable by its owner only", async () => {
  await add("Ada", "ada@example.com");
  const list = file("list.csv");
  await writeFile(list, "as it was", { mode: 0o644 });
  const broken = await waitlist(["export", list], { DATABASE_OWNER_URL: database.webUrl });
  expect(broken).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(/^This role may not do that\./) });
  expect(await readFile(list, "utf8")).toBe("as it was");
  expect(await exportList(list)).toBe(`Wrote 1 entry to ${list}.\n`);
  expect((await stat(list)).mode & 0o777).toBe(0o600);
  expect(await waitlist(["export", "/dev/null"])).toMatchObject({ code: 1, stdout: "" });
  expect((await stat("/dev/null")).isFile()).toBe(false);
  expect((await readdir(file())).filter((name) => name.endsWith(".part"))).toEqual([]);
});
