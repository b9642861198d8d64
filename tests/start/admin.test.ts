// waitlist admin
import { expect, it } from "vitest";
import { queryAs } from "../support/query.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";

const { database, waitlist, add } = createWaitlistFixture();

const admins = (...args: string[]) => waitlist(["admin", ...args]);
const name = () => `ada_${new URL(database.adminRoleUrl).username}`;

it("adds, lists and removes a login whose status changes carry its name", async () => {
  await add("Ada", "ada@example.com");
  const added = await admins("add", name());
  expect([added.code, added.stderr]).toEqual([0, ""]);
  const [, password] = /^Added .*, which is not shown again:\n([0-9a-f]{48})\n$/.exec(added.stdout) ?? [];
  const url = new URL(database.adminRoleUrl);
  [url.username, url.password] = [name(), password ?? ""];
  await queryAs(url.href, "UPDATE earlyaccess SET status = 'invited'");
  const latest = "SELECT changed_by FROM earlyaccess_status_changes ORDER BY id DESC LIMIT 1";
  expect(await database.query(latest)).toEqual([{ changed_by: name() }]);
  expect(await admins("list")).toEqual({ code: 0, stdout: `${name()}\n`, stderr: "" });
  expect(await admins("add", name())).toMatchObject({ code: 1, stdout: "" });
  expect(await admins("remove", name())).toMatchObject({ code: 0, stderr: "" });
  expect(await admins("list")).toEqual({ code: 0, stdout: "", stderr: "" });
  await expect(queryAs(url.href, "SELECT 1")).rejects.toMatchObject({ code: "28P01" });
});

it.each([
  [[], 2, /^admin needs ACTION\. /],
  [["rename", "ada"], 2, /^admin does not know "rename"\. It knows add, list and remove\.\n$/],
  [["add"], 2, /^admin add needs NAME\.\n$/],
  [["list", "ada"], 2, /^admin list takes no NAME\.\n$/],
  [["remove", "nobody"], 1, /^"nobody" is not an admin\. There are no admins\.\n$/],
])("refuses %j", async (args, code, sentence) => {
  expect(await admins(...args)).toEqual({ code, stdout: "", stderr: expect.stringMatching(sentence) });
});
