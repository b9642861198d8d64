// The columns of a sign-up, as an administrator grants them.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectRoot } from "../project-root.ts";
import { signUpColumns } from "./columns.ts";

it("the first line of prisma/roles/web.sql has the columns of a sign-up; this test writes them", async () => {
  const file = join(projectRoot, "prisma/roles/web.sql");
  const text = await readFile(file, "utf8");
  await expect(text.replace(/(?<=sign_up_columns=")[^"]*/, signUpColumns)).toMatchFileSnapshot(file);
});
