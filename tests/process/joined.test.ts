// waitlist joined: who is marked, the numbers and names, and the files that it reads.
import { writeFile } from "node:fs/promises";
import { beforeEach, expect, it } from "vitest";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";

const { database, file, waitlist, entries, add, addPeople } = await createWaitlistFixture();

beforeEach(() => database.query("TRUNCATE earlyaccess"));

const statuses = async () => Object.fromEntries((await entries()).map(({ name, status }) => [name, status]));

it("joined marks waiting and invited people, in any spelling, and counts and names the others, who stay as they are", async () => {
  await add("Ada", "ada@example.com");
  await add("Zoë", "zoe@xn--mnchen-3ya.de", { status: "invited", invitation: "first" });
  await add("Flagged", "flagged@example.com", { suspected_spam: true });
  await add("Ben", "ben@example.com", { status: "joined" });
  await add("Eve", "eve@example.com", { status: "left" });
  await add("Kim", "kim@example.com");
  const customers = ["ADA@example.com ", "Zoe@München.de", "flagged@example.com", "ben@example.com", "eve@example.com"];
  const args = ["joined", ...customers, "NOBODY@example.com", "nobody@example.com"];
  const rest = "Left: 1 (eve@example.com). Not on the list: 1 (nobody@example.com).\n";
  const stdout = `Marked 3 people as joined. Joined before: 1. ${rest}`;
  expect(await waitlist(args)).toEqual({ code: 0, stdout, stderr: "" });
  const joined = { Ada: "joined", Zoë: "joined", Flagged: "joined", Ben: "joined" };
  expect(await statuses()).toEqual({ ...joined, Eve: "left", Kim: "waiting" });
  expect(await waitlist(args)).toMatchObject({
    code: 0,
    stdout: `Marked 0 people as joined. Joined before: 4. ${rest}`,
  });
  expect(await waitlist(["joined", "nobody@example.com"])).toEqual({
    code: 1,
    stdout: "Marked 0 people as joined. Joined before: 0. Left: 0. Not on the list: 1 (nobody@example.com).\n",
    stderr: "None of these addresses is on the list.\n",
  });
  const history =
    "SELECT name, old_status FROM earlyaccess_status_changes JOIN earlyaccess e ON e.id = entry_id ORDER BY name";
  expect(await database.query(history)).toEqual([
    { name: "Ada", old_status: "waiting" },
    { name: "Flagged", old_status: "waiting" },
    { name: "Zoë", old_status: "invited" },
  ]);
  expect((await waitlist(["invite", "--first", "9", "--dry-run"])).stdout).toBe("Would invite 1 person; 1 match.\n");
  expect(await waitlist(["joined"])).toMatchObject({ code: 2 });
});

it.each([
  [
    "a CSV file without the name of the column",
    "Ben,ben@example.com\n",
    / has several columns at line 1, and no column email /,
  ],
  [
    "a CSV file with another name of the column",
    "id,Plan,Email Address\ncus_1,Pro,ben@example.com\n",
    / names no column email, but id, Plan, Email Address\. Rename the column of the addresses to email\. Nothing was changed\.\n$/,
  ],
  [
    "a file of addresses under another name",
    "Email Address\nben@example.com\n",
    /^"Email Address" is not an email address\. /,
  ],
  ["a file without an address", "email\n\n", /customers\.txt has no address\. Nothing was changed\.\n$/],
  ["a CSV file with two columns of addresses", "Email;E-Mail\nben@example.com;\n", /^Two columns are for email\./],
])("joined --file refuses %s, and marks nobody", async (_, text, message) => {
  await add("Ben", "ben@example.com");
  await writeFile(file("customers.txt"), text);
  const refused = { code: 1, stdout: "", stderr: expect.stringMatching(message) as string };
  expect(await waitlist(["joined", "--file", file("customers.txt")])).toEqual(refused);
  expect(await statuses()).toEqual({ Ben: "waiting" });
});

it.each([
  ["utf8", 'id,"Plan; a; b; c; d",E-mail,Name\ncus_1,"a,b",\'+ben@example.com,Ben\ncus_2,,,\n'],
  ["utf16le", "\uFEFFPočet\tE-Mail\r\n1\t+ben@example.com\r\n"],
] as const)("joined --file takes the addresses of a CSV file of customers in %s", async (encoding, text) => {
  await add("Ben", "+ben@example.com");
  await writeFile(file("customers.csv"), text, encoding);
  const stdout = "Marked 1 person as joined. Joined before: 0. Left: 0. Not on the list: 0.\n";
  expect(await waitlist(["joined", "--file", file("customers.csv")])).toEqual({ code: 0, stdout, stderr: "" });
});

it.each(["utf8", "utf16le"] as const)("joined --file marks the people of a long file in %s", async (encoding) => {
  await addPeople(2_100);
  const lines = Array.from({ length: 2_122 }, (_, i) => `Person${i}@example.com\r\n`);
  await writeFile(file("customers.txt"), `\uFEFF${[...lines.toReversed(), ...lines].join("\r\n")}`, encoding);
  const { stdout } = await waitlist(["joined", "--file", file("customers.txt")]);
  expect(stdout).toMatch(
    /^Marked 2,100 people .* list: 22 \((?:person\d+@example\.com, ){19}person2102@\S+ and 2 more\)\.\n$/,
  );
  expect(new Set(Object.values(await statuses()))).toEqual(new Set(["joined"]));
});
