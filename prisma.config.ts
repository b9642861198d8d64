// Configures Prisma's own commands: where the schema is and which database they open.

// These commands never start the schema engine but insist on its presence; without it they download it.
const needsNoEngine = ["generate", "validate", "format", "studio"].includes(process.argv[2] ?? "");
if (needsNoEngine) process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath;

const url = process.env.DATABASE_OWNER_URL;

export default {
  schema: "prisma/schema.prisma",
  migrations: { path: "prisma/migrations" },
  ...(url ? { datasource: { url } } : {}),
};
