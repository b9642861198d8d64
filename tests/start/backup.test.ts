// waitlist backup and restore, with scripts in place of pg_dump and pg_restore.
import { chmod, readFile, rm, stat, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { hashAddress } from "../../server/database/erasures.ts";
import { migrate } from "../../server/database/migrate.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";

const { database, file, waitlist, entries, add } = createWaitlistFixture();

/** Installs a pg_dump that records its arguments and environment. */
async function install(version: string, code = 0): Promise<string> {
  const script = `#!/bin/sh
if [ "$1" = --version ]; then echo "pg_dump (PostgreSQL) ${version}"; exit; fi
{ echo "$@"; env; } > "${file()}/given"
for argument; do case $argument in --file=*) echo data > "\${argument#--file=}";; esac; done
echo "it did not work" >&2
exit ${code}
`;
  await writeFile(file("pg_dump"), script);
  await chmod(file("pg_dump"), 0o755);
  return `${file()}:${process.env.PATH}`;
}

it("backup hides the password from the list of processes, and keeps the file private", async () => {
  const backup = file("list.dump");
  const { code, stdout } = await waitlist(["backup", backup], { PATH: await install("99.1") });
  expect([code, stdout]).toEqual([0, `Wrote ${backup}: 5 bytes.\n`]);
  expect((await stat(backup)).mode & 0o777).toBe(0o600);
  const [argv = "", ...environment] = (await readFile(file("given"), "utf8")).split("\n");
  const password = new URL(database.ownerUrl).password;
  expect(argv).toContain("--format=custom");
  expect(argv).not.toContain(password);
  expect(environment).toContain(`PGPASSWORD=${password}`);
  expect(environment.filter((line) => line.startsWith("DATABASE_"))).toEqual([]);
});

it("backup leaves no file if pg_dump fails, and says why", async () => {
  const backup = file("failed.dump");
  const { code, stderr } = await waitlist(["backup", backup], { PATH: await install("99.1", 1) });
  expect([code, stderr]).toEqual([1, `${file()}/pg_dump failed:\nit did not work\n`]);
  await expect(stat(backup)).rejects.toThrow("ENOENT");
});

/** Installs a pg_restore that lists these contents, and restores nothing but records what it would. */
async function installRestore(...contents: string[]): Promise<string> {
  const list = contents.map((line, i) => `echo "${i}; 1259 16385 ${line} owner"`).join("\n");
  const script = `#!/bin/sh
case $1 in
--version) echo "pg_restore (PostgreSQL) 99.1";;
--list) ${list};;
*) for argument; do case $argument in --use-list=*) cp "\${argument#--use-list=}" "${file()}/restored";; esac; done;;
esac
`;
  await writeFile(file("pg_restore"), script, { mode: 0o755 });
  return `${file()}:${process.env.PATH}`;
}

it.each([
  [[], ["TABLE public earlyaccess"], /^The database holds \d+ entries\. With --replace, /],
  [["--replace"], ["TABLE public shop"], /^The file is not a backup of a waitlist\.\n$/],
  [
    ["--replace"],
    ["TABLE public earlyaccess", "TABLE public _prisma_migrations", "TYPE public earlyaccess_status"],
    /^The backup lacks some objects of the database: table earlyaccess_backups, table earlyaccess_notices, table earlyaccess_status_changes, table earlyaccess_views, table left_over(, function \w+)+\. Restore into a new, empty database\.\n$/,
  ],
])("restore %j changes nothing if the backup holds %j", async (options, contents, message) => {
  await database.query(
    `CREATE TABLE left_over AS SELECT 1 AS one;
     INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'Zoe', 'zoe@example.com', 'E')`,
  );
  try {
    const before = await database.query("SELECT * FROM earlyaccess ORDER BY id");
    const path = await installRestore(...contents);
    const { code, stdout, stderr } = await waitlist(["restore", file("pg_restore"), ...options], {
      PATH: path,
    });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(message);
    await expect(stat(file("restored"))).rejects.toThrow("ENOENT");
    expect(await database.query("SELECT * FROM earlyaccess ORDER BY id")).toEqual(before);
    expect(await database.query("SELECT * FROM left_over")).toEqual([{ one: 1 }]);
  } finally {
    await database.query("DROP TABLE left_over; DELETE FROM earlyaccess WHERE name = 'Zoe'");
  }
});

it("restore keeps the erased addresses, removes their entries again, and needs the key before it changes anything", async () => {
  const key = "erasure-key-of-the-tests".padEnd(40, ".");
  await migrate({ ...database, erasureKey: key });
  const hash = hashAddress("ada@example.com", key);
  await database.query("INSERT INTO earlyaccess_erasures.addresses VALUES ($1, '2026-01-02T00:00:00Z')", [hash]);
  // What the backup brings back.
  await add("Ada", "ada@example.com", { created_at: "2026-01-01T00:00:00Z" });
  await add("Zoe", "zoe@example.com", { created_at: "2026-01-01T00:00:00Z" });
  const erasures = ["SCHEMA - earlyaccess_erasures", "TABLE earlyaccess_erasures addresses"];
  const PATH = await installRestore(...(await listObjects()), ...erasures);
  const args = ["restore", file("pg_restore"), "--replace"];
  for (const [env, message] of [
    [{}, /^ERASURE_KEY is not set, but this database /],
    [{ ERASURE_KEY: "another-key".repeat(3) }, /^ERASURE_KEY is not the key /],
  ] as const) {
    const refused = await waitlist(args, { PATH, ...env });
    expect(refused).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(message) });
    await expect(stat(file("restored"))).rejects.toThrow("ENOENT");
    expect(await entries()).toHaveLength(2);
  }
  const stdout = "Restored 2 entries.\nRemoved 1 of them, which were erased after the backup.\n";
  expect(await waitlist(args, { PATH, ERASURE_KEY: key })).toEqual({ code: 0, stdout, stderr: "" });
  expect(await entries()).toMatchObject([{ name: "Zoe" }]);
  const restored = (await readFile(file("restored"), "utf8")).split("\n").filter((line) => /^\d/.test(line));
  expect(restored.filter((line) => line.includes("earlyaccess_erasures"))).toEqual([]);
  expect(restored.filter((line) => line.includes("TABLE public earlyaccess "))).toHaveLength(1);
});

it("restore into a new database with a key needs no table of erased addresses", async () => {
  const key = "erasure-key-of-the-tests".padEnd(40, ".");
  await rm(file("restored"), { force: true });
  await database.query("TRUNCATE earlyaccess; DROP SCHEMA IF EXISTS earlyaccess_erasures CASCADE");
  const PATH = await installRestore(...(await listObjects()));
  const stdout = "Restored 0 entries.\nRemoved 0 of them, which were erased after the backup.\n";
  const result = await waitlist(["restore", file("pg_restore")], { PATH, ERASURE_KEY: key });
  expect(result).toEqual({ code: 0, stdout, stderr: "" });
  expect(await database.query("SELECT FROM earlyaccess_erasures.addresses")).toHaveLength(1);
});

/** Returns the table of contents of a backup of the database, as far as restore reads it. */
async function listObjects(): Promise<string[]> {
  const rows = await database.query(
    `SELECT 'TABLE public ' || relname AS line FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
     UNION ALL SELECT 'TYPE public ' || typname FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typtype = 'e'
     UNION ALL SELECT 'FUNCTION public ' || proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace`,
  );
  return rows.map(({ line }) => String(line));
}
