// Configures Prisma's own commands: where the schema is and which database Studio opens.

// Studio and `generate` never start this binary but insist on its presence; without it they download one.
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath;

const url = process.env.DATABASE_OWNER_URL;

export default {
  schema: "prisma/schema.prisma",
  migrations: { path: "prisma/migrations" },
  ...(url ? { datasource: { url } } : {}),
};
