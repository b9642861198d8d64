// waitlist import of a file with erased addresses.
import { writeFile } from "node:fs/promises";
import { beforeAll, beforeEach, expect, it } from "vitest";
import { hashAddress } from "../../server/database/erasure-key.ts";
import { migrate } from "../../server/database/migrate.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";

const { database, file, waitlist, entries, add } = createWaitlistFixture();

const key = "erasure-key-of-the-tests".padEnd(40, ".");

beforeAll(() => migrate({ ...database, erasureKey: key }));

beforeEach(async () => {
  await database.query("TRUNCATE earlyaccess");
  await database.query("DELETE FROM earlyaccess_erasures.addresses WHERE hash <> $1", [hashAddress("", key)]);
});

const importText = async (text: string, env: Record<string, string>, ...options: string[]) => {
  await writeFile(file("import.csv"), text);
  return waitlist(["import", file("import.csv"), ...options], env);
};

const addresses = async () => (await entries()).map(({ email }) => email);

it("skips and counts erased addresses, unless the line is later than the erasure", async () => {
  for (const name of ["undated", "older", "same", "later", "both", "future"]) {
    const values = [hashAddress(`${name}@xn--mnchen-3ya.de`, key), "2026-01-02T03:04:05Z"];
    await database.query("INSERT INTO earlyaccess_erasures.addresses VALUES ($1, $2)", values);
  }
  await add("Known", "known@example.com");
  const text = [
    "name,email,company,created_at",
    "A,UNDATED@München.de,E,",
    "B,older@münchen.de,E,2026-01-02T03:04:04Z",
    "C,same@münchen.de,E,2026-01-02T03:04:05Z",
    "D,later@münchen.de,E,2026-01-02T03:04:06Z",
    "E,both@münchen.de,E,2026-01-01",
    "F,both@münchen.de,E,2026-01-03",
    "G,future@münchen.de,E,9999-01-01",
    "H,known@example.com,E,2026-01-01",
    "I,never@münchen.de,E,2026-01-01",
    "J,never@münchen.de,E,2026-01-01\n",
  ].join("\n");
  const counts = "10 lines, 1 already on the list, 1 twice in the file, 5 erased, 0 wrong.\n";
  const report = `${counts}1 dates are unusable; import uses the current time.\n`;
  const dryRun = await importText(text, { ERASURE_KEY: key }, "--dry-run");
  expect(dryRun).toEqual({ code: 0, stdout: `${report}Would import 3; nothing was changed.\n`, stderr: "" });
  expect(await addresses()).toEqual(["known@example.com"]);
  const result = await importText(text, { ERASURE_KEY: key });
  expect(result).toEqual({ code: 0, stdout: `${report}Imported 3.\n`, stderr: "" });
  const imported = ["both", "later", "never"].map((name) => `${name}@xn--mnchen-3ya.de`);
  expect(await addresses()).toEqual([imported[0], "known@example.com", ...imported.slice(1)]);
  expect(await entries()).toMatchObject([{ name: "F" }, { name: "Known" }, { name: "D" }, { name: "I" }]);
});

it("erase, then import of the earlier export: the address does not return", async () => {
  await add("Ada", "ada@example.com");
  await add("Zoë", "zoe@example.com");
  await waitlist(["export", file("list.csv")], { ERASURE_KEY: key });
  await waitlist(["erase", "ada@example.com"], { ERASURE_KEY: key });
  const { stdout } = await waitlist(["import", file("list.csv")], { ERASURE_KEY: key });
  expect(stdout).toMatch(/^2 lines, 1 already on the list, 0 twice in the file, 1 erased, 0 wrong\.\n/);
  expect(await addresses()).toEqual(["zoe@example.com"]);
});

it("skips a line whose address is erased between the check of the file and its batch", async () => {
  await database.query(
    `CREATE FUNCTION erase_zoe() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       INSERT INTO earlyaccess_erasures.addresses VALUES ('\\x${hashAddress("zoe@example.com", key).toString("hex")}');
       RETURN NEW;
     END $$;
     CREATE TRIGGER erase_zoe BEFORE INSERT ON earlyaccess FOR EACH ROW WHEN (NEW.email = 'ada@example.com') EXECUTE FUNCTION erase_zoe()`,
  );
  try {
    const others = Array.from({ length: 999 }, (_, i) => `Ada,ada${i}@example.com,E\n`).join("");
    const text = `name,email,company\nAda,ada@example.com,E\n${others}Zoe,zoe@example.com,E\n`;
    const { stdout } = await importText(text, { ERASURE_KEY: key });
    expect(stdout).toBe(
      "1,001 lines, 0 already on the list, 0 twice in the file, 0 erased, 0 wrong.\nImported 1,000.\n",
    );
    expect(await addresses()).not.toContain("zoe@example.com");
  } finally {
    await database.query("DROP FUNCTION erase_zoe CASCADE");
  }
});

it.each([
  ["without the key", {}, /^ERASURE_KEY is not set, but this database /],
  ["with another key", { ERASURE_KEY: "another-key".repeat(3) }, /^ERASURE_KEY is not the key /],
])("imports nothing %s", async (_, env, message) => {
  for (const options of [[], ["--dry-run"]]) {
    const result = await importText("name,email,company\nAda,ada@example.com,E\n", env, ...options);
    expect(result).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(message) });
  }
  expect(await entries()).toEqual([]);
});
