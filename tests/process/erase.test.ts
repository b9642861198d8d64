// waitlist erase
import { beforeEach, describe, expect, it } from "vitest";
import { hashAddress } from "../../server/database/erasure-key.ts";
import { migrate } from "../../server/database/migrate.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";

const { database, waitlist, entries, add } = createWaitlistFixture();

beforeEach(() => database.query("TRUNCATE earlyaccess"));

it("removes the address in any spelling, keeps the trace, and can be repeated", async () => {
  await add("Zoë", "zoe@xn--mnchen-3ya.de", { created_at: "2026-01-02T03:04:05Z" });
  await add("Ada", "ada@example.com");
  await database.query("UPDATE earlyaccess SET status = 'invited' WHERE name = 'Zoë'");
  const [{ id }] = (await database.query("SELECT id FROM earlyaccess WHERE name = 'Zoë'")) as [{ id: string }];
  const stdout =
    "Removed 1 entry of 2026-01-02 with status invited. Its 1 status change stays, without personal data.\n";
  expect(await waitlist(["erase", " ZOE@München.de"])).toEqual({ code: 0, stdout, stderr: "" });
  expect(await entries()).toMatchObject([{ name: "Ada" }]);
  expect(await database.query("SELECT FROM earlyaccess_status_changes WHERE entry_id = $1", [id])).toHaveLength(1);
  const none = "The list has no entry with this address.\n";
  expect(await waitlist(["erase", "zoe@münchen.de"])).toEqual({ code: 0, stdout: none, stderr: "" });
});

it("removes what an admin entered by hand, and refuses any other text that is no address", async () => {
  await add("By hand", "zoë");
  expect(await waitlist(["erase", "ZOË"])).toMatchObject({ code: 0, stderr: "" });
  expect(await entries()).toEqual([]);
  const stderr = '"ZOË" is not an email address. Nothing was removed.\n';
  expect(await waitlist(["erase", "ZOË"])).toEqual({ code: 1, stdout: "", stderr });
});

it("removes several addresses, and reports on each", async () => {
  for (const name of ["Ada", "Zoe", "Eve"]) {
    await add(name, `${name}@example.com`.toLowerCase(), { created_at: "2026-01-02T03:04:05Z" });
  }
  const stdout = [
    "ADA@example.com: Removed 1 entry of 2026-01-02 with status waiting.",
    "nobody@example.com: The list has no entry with this address.",
    "zoe@example.com: Removed 1 entry of 2026-01-02 with status waiting.\n",
  ].join("\n");
  const addresses = ["ADA@example.com", "nobody@example.com", "zoe@example.com"];
  expect(await waitlist(["erase", ...addresses])).toEqual({ code: 0, stdout, stderr: "" });
  expect(await entries()).toMatchObject([{ name: "Eve" }]);
});

it("removes nothing if one of several is no address", async () => {
  await add("Ada", "ada@example.com");
  const stderr = '"zo?e" is not an email address. Nothing was removed.\n';
  expect(await waitlist(["erase", "ada@example.com", "zo\u0007e"])).toEqual({ code: 1, stdout: "", stderr });
  expect(await entries()).toHaveLength(1);
});

it("needs the table of erased addresses if ERASURE_KEY is set", async () => {
  await add("Ada", "ada@example.com");
  expect(await waitlist(["erase", "ada@example.com"], { ERASURE_KEY: "k".repeat(32) })).toEqual({
    code: 1,
    stdout: "",
    stderr: "There is no table for erased addresses yet. Migrate with ERASURE_KEY set: npm run migrate.\n",
  });
  expect(await entries()).toHaveLength(1);
});

describe("with ERASURE_KEY", () => {
  const env = { ERASURE_KEY: "erasure-key-of-the-tests".padEnd(40, ".") };
  const erased = async () =>
    (await database.query("SELECT hash FROM earlyaccess_erasures.addresses")).map(({ hash }) => String(hash));
  const hash = (address: string) => String(hashAddress(address, env.ERASURE_KEY));

  beforeEach(async () => {
    await migrate({ ...database, erasureKey: env.ERASURE_KEY });
    await database.query("DELETE FROM earlyaccess_erasures.addresses WHERE hash <> $1", [
      hashAddress("", env.ERASURE_KEY),
    ]);
  });

  it("keeps the address as a keyed hash, whether or not the list has its entry", async () => {
    await add("Ada", "ada@example.com", { created_at: "2026-01-02T03:04:05Z" });
    const stdout = "Removed 1 entry of 2026-01-02 with status waiting.\n";
    expect(await waitlist(["erase", "ADA@example.com"], env)).toEqual({ code: 0, stdout, stderr: "" });
    const none = "The list has no entry with this address.\n";
    expect(await waitlist(["erase", "Zoe@München.de"], env)).toEqual({ code: 0, stdout: none, stderr: "" });
    const hashes = ["", "ada@example.com", "zoe@xn--mnchen-3ya.de"].map(hash);
    expect((await erased()).toSorted()).toEqual(hashes.toSorted());
    expect(await entries()).toEqual([]);
  });

  it("keeps the hashes of several addresses", async () => {
    await add("Ada", "ada@example.com");
    expect(await waitlist(["erase", "ada@example.com", "zoe@example.com"], env)).toMatchObject({ code: 0, stderr: "" });
    expect((await erased()).toSorted()).toEqual(["", "ada@example.com", "zoe@example.com"].map(hash).toSorted());
    expect(await entries()).toEqual([]);
  });

  it("keeps the latest time of an address that is erased twice", async () => {
    await waitlist(["erase", "ada@example.com"], env);
    await database.query("UPDATE earlyaccess_erasures.addresses SET erased_at = '2026-01-01'");
    await waitlist(["erase", "ada@example.com"], env);
    expect(
      await database.query("SELECT FROM earlyaccess_erasures.addresses WHERE erased_at > '2026-01-01'"),
    ).toHaveLength(1);
  });

  it("keeps no hash of a text that is no address, except that of an entry", async () => {
    await add("By hand", "zoë");
    expect(await waitlist(["erase", "ada"], env)).toMatchObject({ code: 1, stdout: "" });
    expect(await waitlist(["erase", "ZOË"], env)).toMatchObject({ code: 0, stderr: "" });
    expect((await erased()).toSorted()).toEqual(["", "zoë"].map(hash).toSorted());
  });

  it.each([
    ["without the key", undefined, /^ERASURE_KEY is not set, but this database /],
    ["with another key", "another-key".repeat(3), /^ERASURE_KEY is not the key /],
  ])("changes nothing %s", async (_, other, message) => {
    await add("Ada", "ada@example.com");
    const result = await waitlist(["erase", "ada@example.com"], other === undefined ? {} : { ERASURE_KEY: other });
    expect(result).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(message) });
    expect(await entries()).toHaveLength(1);
    expect(await erased()).toEqual([hash("")]);
  });
});
