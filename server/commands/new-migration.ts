// npm run migrate:new -- NAME: writes a migration from the latest one to the current prisma/schema.prisma.
import { writeMigration } from "./new-migration/schema-engine.ts";
import { OperatorError } from "../operator-messages.ts";
import { runCommand } from "./command.ts";
import { print } from "./print.ts";

await runCommand(async (database) => {
  const name = process.argv[2] ?? "";
  if (!/^[a-z][a-z0-9_]{0,99}$/.test(name)) {
    throw new OperatorError(
      "A migration's name consists of small letters, digits and _, for example: npm run migrate:new -- add_status",
    );
  }
  const folder = await writeMigration(database.ownerUrl, name);
  const next = `npm run migrate && npx vitest run server/database/schema-objects.test.ts -u`;
  print(folder ? `Wrote ${folder}. Read its SQL, then: ${next}\n` : "prisma/schema.prisma has not changed.\n");
});
