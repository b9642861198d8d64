// deploy/backup.sh: which backups stay. tests/reliability/backups.ts has the rest.
import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeEach, expect, it } from "vitest";
import { projectRoot } from "../server/project-root.ts";

const run = promisify(execFile);
const script = join(projectRoot, "deploy/backup.sh");

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "perennial-backups-"));
  return () => rm(folder, { recursive: true });
});

const nameOf = (date: Date) => `perennial-${date.toISOString().slice(0, 19).replaceAll(":", "")}Z.dump`;

async function addBackup(date: Date): Promise<void> {
  await writeFile(join(folder, nameOf(date)), "");
  await utimes(join(folder, nameOf(date)), date, date);
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
  "The database cannot be reached: see the line above.\nThe backup failed. The next attempt is in an hour.\nDone";
it.each([
  [23, "Done"],
  [25, failed],
  [-1, failed],
])("backup.sh backs up if the newest is older than a day or from the future: %i hours", async (hours, printed) => {
  await addBackup(hoursAgo(hours));
  await writeFile(join(folder, "sleep"), "echo Done; kill $PPID", { mode: 0o755 });
  await writeFile(join(folder, "psql"), "exit 2", { mode: 0o755 });
  const env = { PATH: `${folder}:${process.env.PATH}`, BACKUP_FOLDER: folder };
  const { stdout } = (await run("sh", [script], { env }).catch((error: unknown) => error)) as { stdout: string };
  expect(stdout.replaceAll(/^\S+Z /gm, "").trim()).toBe(printed);
});

it("backup.sh keeps all of the last two days, and the newest of the day before", async () => {
  const lateAt = (second: number) => new Date(hoursAgo(72).setUTCHours(23, 58, second));
  expect(await rotate([...[0, 1, 2, 45, 46, 47].map(hoursAgo), ...[1, 2, 3].map(lateAt)])).toHaveLength(7);
  expect(await readdir(folder)).toContain(nameOf(lateAt(3)));
});

it("backup.sh deletes no backup only for its age, and no other file", async () => {
  const others = ["exports.tar", "perennial.dump", "before-upgrade.dump", "perennial-2026-13-45T030000Z.dump"];
  for (const name of others) await writeFile(join(folder, name), "");
  expect(await rotate(daily("2020-02-29T03:00:00Z", 7))).toHaveLength(11);
});
