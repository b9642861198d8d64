// waitlist erase
import { beforeEach, expect, it } from "vitest";
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
  const stderr = "This is not an email address. Nothing was removed.\n";
  expect(await waitlist(["erase", "ZOË"])).toEqual({ code: 1, stdout: "", stderr });
});
