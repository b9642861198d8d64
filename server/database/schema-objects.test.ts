// The file of expected schema objects, compared with databases that have every migration.
import { afterEach, beforeEach, expect, it } from "vitest";
import { createEmptyDatabase, superuserUrl, type TestDatabase } from "../../tests/support/database.ts";
import { createOtherApplication, dropOtherApplicationRoles } from "../../tests/support/other-application.ts";
import { queryAs } from "../../tests/support/query.ts";
import { connectTo } from "./client.ts";
import { migrate } from "./migrate.ts";
import { expectedObjectsFile, readObjects } from "./schema-objects.ts";

let database: TestDatabase;
let name: string;

beforeEach(async () => {
  database = await createEmptyDatabase();
  name = new URL(database.ownerUrl).pathname.slice(1);
});

afterEach(async () => {
  await database.drop();
  await dropOtherApplicationRoles(superuserUrl("postgres"), `${name}_shop`);
});

/** One object a line. */
async function formatObjects(): Promise<string> {
  const owner = await connectTo(database.ownerUrl);
  const objects = await readObjects(owner).finally(() => owner.end());
  return `[\n${objects.map((object) => JSON.stringify(object)).join(",\n")}\n]\n`;
}

it("lists what the migrations make; to write it: npx vitest run server/database/schema-objects.test.ts -u", async () => {
  await migrate(database);
  await expect(await formatObjects()).toMatchFileSnapshot(expectedObjectsFile);
});

it("lists nothing of another application in the database, whatever its search_path", async () => {
  const superuser = superuserUrl(name);
  await createOtherApplication(superuser, { name: `${name}_shop`, owner: `${name}_owner`, web: `${name}_web` });
  await queryAs(superuser, `ALTER DATABASE ${name} SET search_path = shop, public`);
  await migrate({ ...database, worker: { url: database.notifyUrl, tasks: ["announce"] } });
  await expect(await formatObjects()).toMatchFileSnapshot(expectedObjectsFile);
});
