// npm run studio: opens Prisma Studio on the configured database, for this machine only.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { migrate } from "../database/migrate.ts";
import { projectRoot } from "../project-root.ts";
import { runCommand } from "./command.ts";

await runCommand(async (database) => {
  // A new embedded database has no tables yet; a given one is looked at, not changed.
  if (database.directory) await migrate(database);
  const prisma = createRequire(import.meta.url).resolve("prisma/build/index.js");
  // With a browser to open, Studio ends where there is none, as on a server; its address is printed anyway.
  const studio = spawn(process.execPath, [prisma, "studio", "--browser", "none", ...process.argv.slice(2)], {
    cwd: projectRoot,
    stdio: "inherit",
    env: { ...process.env, DATABASE_OWNER_URL: database.ownerUrl },
  });
  // Ctrl-C reaches Studio as well; this process waits for it to end and then lets go of the database.
  let asked = false;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      asked = true;
      studio.kill(signal);
    });
  }
  const [code] = (await once(studio, "exit")) as [number | null];
  process.exitCode = asked ? 0 : (code ?? 1);
});
