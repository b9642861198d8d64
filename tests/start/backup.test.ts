// waitlist backup and restore, with scripts in place of pg_dump and pg_restore.
import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";

const { database, file, waitlist } = createWaitlistFixture();

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

/** Installs a pg_restore that lists these contents, and records that it restored. */
async function installRestore(...contents: string[]): Promise<string> {
  const list = contents.map((line, i) => `echo "${i}; 1259 16385 ${line} owner"`).join("\n");
  const script = `#!/bin/sh
case $1 in
--version) echo "pg_restore (PostgreSQL) 99.1";;
--list) ${list};;
*) touch "${file()}/restored";;
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
    /^The backup lacks some objects of the database: table earlyaccess_imports, table earlyaccess_status_changes, table left_over(, function \w+)+\. Restore into a new, empty database\.\n$/,
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
