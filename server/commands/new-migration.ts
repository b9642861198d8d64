// npm run migrate:new -- NAME: writes the migration that leads to prisma/schema.prisma as it is now.
import { loadConfig } from "../config.ts";
import { openDatabase } from "../database/open.ts";
import { writeMigration } from "../database/schema-engine.ts";

try {
  const name = process.argv[2] ?? "";
  if (!/^[a-z][a-z0-9_]{0,99}$/.test(name)) {
    throw new Error(
      `A migration's name has small letters, digits and _, for example: npm run migrate:new -- add_status`,
    );
  }
  const database = await openDatabase(loadConfig());
  try {
    const folder = await writeMigration(database.ownerUrl, name);
    process.stdout.write(
      folder ? `Wrote ${folder}. Read its SQL, then: npm run migrate\n` : "prisma/schema.prisma has not changed.\n",
    );
  } finally {
    await database.release();
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
