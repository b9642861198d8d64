// The commands of the documents for containers, run in a shell whose docker runs the built program.
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { projectRoot } from "../../server/config/project-root.ts";
import { openMailServer, parseMail } from "../support/mail-server.ts";
import { letter, senderSettings } from "../support/mailing.ts";
import { builtWaitlist, run, urlsOf } from "../support/run.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";
import { mailSettings } from "../support/worker.ts";

const { database, file, addPeople } = await createWaitlistFixture();

const docker = `#!/bin/sh
while [ "$1" != migrate ] && [ "$1" != waitlist ]; do shift; done
program=$1
shift
exec node "${dirname(builtWaitlist)}/$program.js" "$@"
`;

/** Returns the lines of code blocks, and the code in sentences, without what follows for other services. */
async function readCommands(): Promise<string[]> {
  const names = (await readdir(join(projectRoot, "docs"))).filter((name) => name.endsWith(".md"));
  const texts = await Promise.all(names.map((name) => readFile(join(projectRoot, "docs", name), "utf8")));
  const code = texts.flatMap((text) => text.match(/(?<=`)[^`\n]+(?=`)|^[^`\n]+$/gm) ?? []);
  const commands = code.filter((line) =>
    /^(?:[^A-Z]|WAITLIST)*docker compose run --rm (?:-T )?(?:(?:--no-deps )?migrate|waitlist [a-z])/.test(line),
  );
  return commands.map((line) =>
    line
      .trim()
      .replace(/^.*cd \/opt\/perennial/, "cd .")
      .replace("docker compose up -d --wait && ", "")
      .replace("launch - 500", "launch - 1"),
  );
}

it("the commands of the documents work, in their order", async () => {
  await addPeople(3);
  await mkdir(file("exports"));
  await writeFile(file("docker"), docker, { mode: 0o755 });
  await writeFile(file("exports/late.csv"), "name,email,company\nLate,late@example.com,Engines\n");
  await writeFile(file("exports/bounced.txt"), "person0@example.com\n");
  await writeFile(file("exports/customers.csv"), "email\nperson1@example.com\n");
  await writeFile(file("exports/launch.txt"), letter);
  const server = await openMailServer();
  onTestFinished(() => server.close());
  const env = {
    ...urlsOf(database),
    ...mailSettings,
    ...senderSettings,
    WORKER_DATABASE_URL: database.workerUrl,
    SMTP_URL: server.url,
    PATH: `${file()}:${process.env.PATH}`,
    WEBHOOK_URL: "https://hooks.example",
  };
  const commands = await readCommands();
  expect(commands.length).toBeGreaterThan(15);
  // Without --no-deps, Compose may replace Postgres before migrating has decided anything.
  const migrating = commands.filter((command) => / migrate\b/.test(command));
  expect(migrating.filter((command) => !command.includes("run --rm --no-deps migrate"))).toEqual([]);
  const failures: string[] = [];
  for (const command of commands) {
    await database.query("UPDATE earlyaccess SET status = 'waiting', confirmed_at = now()");
    const { code, stdout, stderr } = await run(["sh", "-c", `cd ${file()} && ${command}`], env);
    if (code !== 0) failures.push(`${command}: ${stdout}${stderr}`);
    if (command.includes("invite")) {
      const list = await readFile(file("exports/invited.csv"), "utf8");
      expect(list.split("\n")).toContainEqual(expect.stringContaining("person1@example.com"));
    }
    if (command.includes("joined")) {
      expect(await database.query("SELECT email, status, mail_refusal FROM earlyaccess ORDER BY email")).toMatchObject([
        { email: "late@example.com", status: "waiting" },
        { email: "person0@example.com", status: "waiting", mail_refusal: "bounced" },
        { email: "person1@example.com", status: "joined" },
        { email: "person2@example.com", status: "waiting" },
      ]);
    }
  }
  expect(failures).toEqual([]);
  const subjects = server.mails.map(({ raw }) => parseMail(raw).headers.subject);
  expect(subjects).toEqual(["Test: We are open", expect.stringMatching(/^Test: Confirm your address/)]);
}, 240_000); // Each of some thirty commands is a process, which takes up to 5 s on a busy machine.
