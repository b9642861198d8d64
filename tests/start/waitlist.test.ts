// The operator's commands on the list, built and run as in the image: what they print, and how they end.
import { once } from "node:events";
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { projectRoot } from "../../server/project-root.ts";
import { migrate } from "../../server/database/migrate.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { runSite } from "../support/site.ts";
import { queryAs } from "../support/query.ts";
import { openWire } from "../support/tcp-proxy.ts";
import { runWaitlist } from "../support/waitlist.ts";

let database: TestDatabase;
let folder: string;
let program: string;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), "perennial-waitlist-"));
  // As in the image: the bundle and the migrations, and no node_modules above them.
  await cp(join(projectRoot, "dist/server"), join(folder, "app/dist/server"), { recursive: true });
  await cp(join(projectRoot, "prisma"), join(folder, "app/prisma"), { recursive: true });
  program = join(folder, "app/dist/server/waitlist.js");
});

afterAll(async () => {
  await rm(folder, { recursive: true });
  await database.drop();
});

beforeEach(() => database.query("TRUNCATE earlyaccess"));

const waitlist = (args: string[], env?: Record<string, string>) => runWaitlist(database, args, env, program);

const file = (name: string) => join(folder, name);
const add = (name: string, email: string, changes: Record<string, unknown> = {}) => {
  const entry = { id: crypto.randomUUID(), name, email, company: "Engines", ...changes };
  const columns = Object.keys(entry).join(", ");
  return database.query(
    `INSERT INTO earlyaccess (${columns}) SELECT ${columns} FROM json_populate_record(null::earlyaccess, $1)`,
    [JSON.stringify(entry)],
  );
};
const anyId = expect.any(String) as string;
const entries = () => database.query("SELECT * FROM earlyaccess ORDER BY email");
const drafts = async () => (await readdir(folder)).filter((name) => name.endsWith(".part"));

describe("the command line", () => {
  it("has a help, in all and for each command", async () => {
    const all = await waitlist(["--help"]);
    expect(all).toMatchObject({ code: 0, stderr: "" });
    const names = [...all.stdout.matchAll(/^ {2}([a-z]+) {2,}\S/gm)].map(([, name]) => name as string);
    expect(names).toEqual(["export", "import", "stats", "erase", "admin", "doctor", "backup", "restore"]);
    for (const name of names) {
      const one = await waitlist([name, "--help"]);
      expect(one).toMatchObject({ code: 0, stderr: "" });
      expect(one.stdout).toContain(`Usage: waitlist ${name} `);
    }
  });

  it.each(["backup", "restore"])("the help of %s says that the image lacks its tool, and what to run", async (name) => {
    const { stdout } = await waitlist([name, "--help"]);
    expect(stdout).toMatch(/The image does not\ninclude it: .* docker compose exec -T database pg_(dump|restore) …/);
  });

  it.each([
    [[], /^Looks after the waitlist/],
    [["list"], /^There is no command "list"\. The commands are export, import, .*\n$/],
    [["\u001B[2J\nlist"], /^There is no command "\?\[2J\?list"\. .*\n$/],
    [["export", "--\u001B[2J\n"], /^Unknown option '--\?\[2J\?'\. .*\n$/],
    [["stats", "--since", "\u001B[2J\n"], /^--since is "\?\[2J\?" but .*\n$/],
    [["stats", "\u001B[2J\n"], /^stats does not know what to do with "\?\[2J\?"\. .*\n$/],
    [["constructor"], /^There is no command "constructor"/],
    [["export", "--fast"], /^Unknown option '--fast'\. See: waitlist export --help\n$/],
    [["export", "--format"], /^Option '--format <value>' argument missing\. See: /],
    [["export", "--format", "constructor"], /^--format is "constructor" but must be csv or ndjson\.\n$/],
    [["export", "--format", "xml"], /^--format is "xml" but must be csv or ndjson\.\n$/],
    [["export", "--since", "01/02/2026"], /^--since is "01\/02\/2026" but must be a date, for example .*\n$/],
    [["export", "a", "b"], /^export does not know what to do with "b"\. See: /],
    [["erase"], /^erase needs ADDRESS\. See: waitlist erase --help\n$/],
  ])("%j ends with 2 and says why", async (args, message) => {
    expect(await waitlist(args)).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(message) });
  });

  it.each([
    ["import", "\u001B[2J\n.csv", /^\?\[2J\?\.csv cannot be read: ENOENT\n$/],
    ["restore", "\u001B[2J\n.dump", /^\?\[2J\?\.dump cannot be read: ENOENT\n$/],
    ["export", "/\u001B[2J\n/list.csv", /^\/\?\[2J\?\/list\.csv cannot be written: ENOENT\n$/],
  ])("%s prints the path %j without its control characters", async (command, path, message) => {
    expect(await waitlist([command, path])).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(message) });
  });

  it("ends with 1 and a sentence where Postgres cannot be reached", async () => {
    const result = await waitlist(["stats"], { DATABASE_OWNER_URL: "postgresql://owner:hunter2@127.0.0.1:1/x" });
    const stderr = "Postgres at 127.0.0.1:1 cannot be reached: ECONNREFUSED\n";
    expect(result).toEqual({ code: 1, stdout: "", stderr });
  });
});

describe("with a stdout that nobody reads, as after `| head`", () => {
  async function runUnread(...args: string[]) {
    const env = { DATABASE_URL: database.webUrl, DATABASE_OWNER_URL: database.ownerUrl };
    const command = runSite({ env, command: [process.execPath, program, ...args] });
    command.process.stdout?.destroy();
    const [code] = (await once(command.process, "close")) as [number | null];
    return { code, stderr: command.stderr() };
  }

  it.each([[["export"]], [["stats"]], [["stats", "--html", "-"]]])(
    "%j ends with 1 and without a message",
    async (args) => {
      expect(await runUnread(...args)).toEqual({ code: 1, stderr: "" });
    },
  );

  it("import stores every entry", async () => {
    await writeFile(file("unread.csv"), "name,email,company\nAda,ada@example.com,E\n");
    expect(await runUnread("import", file("unread.csv"))).toEqual({ code: 1, stderr: "" });
    expect(await entries()).toHaveLength(1);
  });
});

describe("export", () => {
  it("writes RFC 4180: CRLF, and quotes where they are needed", async () => {
    await add('Ada "Countess", Lovelace', "ada@example.com", {
      job_title: "two\nlines",
      created_at: "2026-01-02T03:04:05.678Z",
    });
    const { code, stdout, stderr } = await waitlist(["export"]);
    const [{ id }] = (await entries()) as [{ id: string }];
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toBe(
      "name,email,company,job_title,status,created_at,suspected_spam,disposable_email,unusual_volume," +
        "utm_source,utm_medium,utm_campaign,utm_term,utm_content,referrer_host,id\r\n" +
        `"Ada ""Countess"", Lovelace",ada@example.com,Engines,"two\nlines",waiting,2026-01-02T03:04:05.678Z,f,f,f,,,,,,,${id}\r\n`,
    );
  });

  it.each(["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "'=1", "''-1", "'quoted'", "plain", "＝1", "E;-1"])(
    "keeps a spreadsheet from running %j, and import has it as it was",
    async (company) => {
      await add("Ada", "ada@example.com", { company });
      expect(await waitlist(["export", file("guarded.csv")])).toMatchObject({ code: 0, stderr: "" });
      const [, line = ""] = (await readFile(file("guarded.csv"), "utf8")).split("\r\n");
      expect(line).not.toMatch(/(^|[,;])"?[=+\-@＝\t\r]/);
      // A tab or CR is nothing that a sign-up could hold.
      if (/\s/.test(company)) return;
      const before = await entries();
      await database.query("TRUNCATE earlyaccess");
      expect(await waitlist(["import", file("guarded.csv")])).toMatchObject({ code: 0, stderr: "" });
      expect(await entries()).toEqual(before.map((entry) => Object.assign(entry, { id: anyId, import_id: anyId })));
    },
  );

  it("writes JSON lines with the same columns", async () => {
    await add("Ada", "ada@example.com", { suspected_spam: true, created_at: "2026-01-02T03:04:05.678Z" });
    const [{ id }] = (await entries()) as [{ id: string }];
    const stdout =
      '{"name":"Ada","email":"ada@example.com","company":"Engines","job_title":null,"status":"waiting",' +
      '"created_at":"2026-01-02T03:04:05.678+00:00","suspected_spam":true,"disposable_email":false,"unusual_volume":false,"utm_source":null,' +
      `"utm_medium":null,"utm_campaign":null,"utm_term":null,"utm_content":null,"referrer_host":null,"id":"${id}"}\n`;
    expect(await waitlist(["export", "--format", "ndjson"])).toEqual({ code: 0, stdout, stderr: "" });
  });

  it("writes JSON lines with every text as it is", async () => {
    const controls = String.fromCharCode(...Array.from({ length: 31 }, (_, i) => i + 1), 127);
    const texts = ['=Ada \\ "C"', "Zoë 🚀 \u2028", controls, "\\N", "\\", "", "null"];
    for (const [i, text] of texts.entries()) await add(text, `${i}@example.com`, { job_title: text });
    const { stdout } = await waitlist(["export", "--format", "ndjson"]);
    const lines = stdout.trimEnd().split("\n");
    const read = lines.map((line) => JSON.parse(line) as { name: string; job_title: string });
    expect(read.map(({ name }) => name).toSorted()).toEqual(texts.toSorted());
    expect(read.filter(({ name, job_title }) => name !== job_title)).toEqual([]);
  });

  it("takes a period, and leaves out who was flagged", async () => {
    await add("One", "one@example.com", { created_at: "2026-01-01T23:59:59Z" });
    await add("Two", "two@example.com", { created_at: "2026-01-02T00:00:00Z" });
    await add("Three", "three@example.com", { created_at: "2026-01-02T23:59:59Z", suspected_spam: true });
    await add("Four", "four@example.com", { created_at: "2026-01-03T00:00:00Z", disposable_email: true });
    await add("Five", "five@example.com", { created_at: "2026-01-04T00:00:00Z", unusual_volume: true });
    const names = async (...args: string[]) =>
      (await waitlist(["export", ...args])).stdout
        .split("\r\n")
        .slice(1, -1)
        .map((line) => line.split(",")[0] ?? "")
        .toSorted();
    expect(await names()).toEqual(["Five", "Four", "One", "Three", "Two"]);
    expect(await names("--since", "2026-01-02", "--until", "2026-01-02")).toEqual(["Three", "Two"]);
    expect(await names("--until", "2026-01-02T01:00:00+01:00")).toEqual(["One"]);
    expect(await names("--without-flagged")).toEqual(["One", "Two"]);
  });

  it("makes a file that others cannot read, complete or not at all", async () => {
    await add("Ada", "ada@example.com");
    await writeFile(file("list.csv"), "as it was", { mode: 0o644 });
    const broken = await waitlist(["export", file("list.csv")], { DATABASE_OWNER_URL: database.webUrl });
    expect(broken).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(/^This role may not do that\./) });
    expect(await readFile(file("list.csv"), "utf8")).toBe("as it was");
    expect((await waitlist(["export", file("list.csv")])).stdout).toBe(`Wrote 1 entry to ${file("list.csv")}.\n`);
    expect((await stat(file("list.csv"))).mode & 0o777).toBe(0o600);
    expect(await waitlist(["export", "/dev/null"])).toMatchObject({ code: 1, stdout: "" });
    expect((await stat("/dev/null")).isFile()).toBe(false);
    expect(await drafts()).toEqual([]);
  });
});

describe("import", () => {
  const importText = async (text: string | Uint8Array, ...options: string[]) => {
    await writeFile(file("import.csv"), text);
    return waitlist(["import", file("import.csv"), ...options]);
  };

  it("reads another tool's columns, delimiter, byte order mark and quotes", async () => {
    const text =
      `\uFEFF"E-Mail";Full Name;Organisation;Job title;Created at;Status;Id\r\n` +
      'ADA@Example.com;"Ada; ""Countess""";Engines;;2026-01-02 03:04:05+01;Invited;7\r\n' +
      ";;;;;;\r\n\r\n" +
      "zoe@münchen.de;Zoë;Bau;Chefin;01/02/2026;active;8\r\n";
    const result = await importText(text);
    expect(result).toMatchObject({ code: 0, stderr: "" });
    expect(result.stdout).toBe(
      "2 lines, 0 already on the list, 0 twice in the file, 0 wrong.\nColumns that mean nothing here: Id.\n" +
        "1 dates cannot be used; those count as of now.\n1 statuses are unknown; those count as waiting.\nImported 2.\n",
    );
    expect(await entries()).toMatchObject([
      {
        name: 'Ada; "Countess"',
        email: "ada@example.com",
        status: "invited",
        created_at: new Date("2026-01-02T02:04:05Z"),
      },
      { name: "Zoë", email: "zoe@xn--mnchen-3ya.de", job_title: "Chefin", status: "waiting" },
    ]);
  });

  it("reads tabs, and first and last names", async () => {
    expect(
      await importText("First name\tLast name\tMail\tCompany\nAda\tLovelace\tada@example.com\tA, B; C\n"),
    ).toMatchObject({ code: 0 });
    expect(await entries()).toMatchObject([{ name: "Ada Lovelace", company: "A, B; C" }]);
  });

  it("prints at most 20 unknown columns, without their control characters and cut after 100 characters", async () => {
    const hostile = `"\u001B]0;owned\u0007\u001B[2J\n${"x".repeat(200)}"`;
    const more = Array.from({ length: 30 }, (_, i) => `extra${i}`);
    const { code, stdout, stderr } = await importText(`name,email,company,${hostile},${more.join()}\n`);
    const shown = [`?]0;owned??[2J?${"x".repeat(85)}…`, ...more.slice(0, 19)].join(", ");
    const unknown = `Columns that mean nothing here: ${shown} and 11 more.\n`;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toBe(`0 lines, 0 already on the list, 0 twice in the file, 0 wrong.\n${unknown}Imported 0.\n`);
  });

  it("skips and counts who is there already or twice in the file", async () => {
    await add("First", "ada@example.com");
    const text = "name,email,company\nAda,ADA@example.com,E\nZoe,zoe@example.com,E\nZoë,zoe@example.com,E\n";
    const stdout = "3 lines, 1 already on the list, 1 twice in the file, 0 wrong.\n";
    expect((await importText(text, "--dry-run")).stdout).toBe(`${stdout}Would import 1; nothing was changed.\n`);
    expect(await entries()).toHaveLength(1);
    expect((await importText(text)).stdout).toBe(`${stdout}Imported 1.\n`);
    expect(await entries()).toMatchObject([{ name: "First" }, { name: "Zoe" }]);
  });

  it("counts an address once, however far apart its lines are", async () => {
    await add("First", "ada@example.com");
    const { stdout } = await importText(`name,email,company\n${"Ada,ada@example.com,E\n".repeat(1_100)}`);
    expect(stdout).toBe("1,100 lines, 1 already on the list, 1,099 twice in the file, 0 wrong.\nImported 0.\n");
  });

  it("imports nobody where a line is wrong, and names the line but not the person", async () => {
    const text =
      "name,email,company\nAda,ada@example.com,E\n\nSecret Person,secret.person,E\nSecret,a@example.com,,\nA,b@example.com,E,Secret\n";
    const { code, stdout, stderr } = await importText(text);
    expect(code).toBe(1);
    expect(stderr).toBe(
      "Line 4: email: Enter an email address like name@example.com.\nLine 5: company: Enter your company.\n" +
        "Line 6: more cells than the header has\nNothing was imported.\n",
    );
    expect(stdout + stderr).not.toMatch(/secret/i);
    expect(await entries()).toEqual([]);
  });

  it.each([
    ["refuses an entry", "RAISE EXCEPTION 'no %', NEW.email", "P0001"],
    ["ends the connection", "PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW", "57P01"],
  ])("leaves nothing behind where Postgres %s in the middle", async (_, act, code) => {
    // The last in the order of addresses, long after the first ones were inserted.
    const lines = Array.from({ length: 20_000 }, (_nothing, i) => `Ada,person${10_000 + i}@example.com,E\n`);
    await database.query(`CREATE FUNCTION act() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${act}; END $$`);
    await database.query(
      `CREATE TRIGGER act BEFORE INSERT ON earlyaccess
       FOR EACH ROW WHEN (NEW.email = 'person29999@example.com') EXECUTE FUNCTION act()`,
    );
    try {
      expect(await importText(`name,email,company\n${lines.join("")}`)).toEqual({
        code: 1,
        stdout: "20,000 lines, 0 already on the list, 0 twice in the file, 0 wrong.\n",
        stderr: `Postgres refused the entries (${code}); see its log. Nothing was imported.\n`,
      });
      expect(await entries()).toEqual([]);
    } finally {
      await database.query("DROP FUNCTION act CASCADE");
    }
  });

  /** @param change the one whose commit is meant: of a batch of entries, or of the import as a whole. */
  const atCommit = async (act: string, change = "UPDATE ON earlyaccess_imports") => {
    await database.query(
      `CREATE FUNCTION at_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${act}; RETURN NULL; END $$`,
    );
    await database.query(
      `CREATE CONSTRAINT TRIGGER at_commit AFTER ${change} DEFERRABLE INITIALLY DEFERRED
       FOR EACH ROW EXECUTE FUNCTION at_commit()`,
    );
  };
  const untilItCommits = () => {
    const sleeping = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'";
    return vi.waitFor(async () => expect(await database.query(sleeping)).not.toEqual([]), 20_000);
  };
  const oneLine = "name,email,company\nAda,ada@example.com,E\n";

  it("says that nobody knows where the connection is lost during the commit, and may be repeated", async () => {
    const wire = await openWire(database.ownerUrl);
    await atCommit("PERFORM pg_sleep(1)");
    await writeFile(file("import.csv"), oneLine);
    const importing = waitlist(["import", file("import.csv")], { DATABASE_OWNER_URL: wire.url(database.ownerUrl) });
    await untilItCommits();
    await wire.cut();
    expect(await importing).toEqual({
      code: 1,
      stdout: "1 lines, 0 already on the list, 0 twice in the file, 0 wrong.\n",
      stderr: expect.stringMatching(
        /^The import was interrupted at the very end \(.*\): .* Import the file again: .*\n$/,
      ),
    });
    // This waits for the commit, of which Postgres could tell nobody.
    await database.query("DROP FUNCTION at_commit CASCADE");
    expect(await entries()).toHaveLength(1);
    expect((await importText(oneLine)).stdout).toMatch(/^1 lines, 1 already on the list, .*\nImported 0\.\n$/);
    expect(await entries()).toHaveLength(1);
  });

  it("finds after a lost connection that the commit succeeded", async () => {
    const wire = await openWire(database.ownerUrl);
    await atCommit("PERFORM pg_sleep(1)");
    await writeFile(file("import.csv"), oneLine);
    const importing = waitlist(["import", file("import.csv")], { DATABASE_OWNER_URL: wire.url(database.ownerUrl) });
    await untilItCommits();
    await wire.mend(); // Ends every connection and accepts new ones.
    const { code, stdout, stderr } = await importing;
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/\nImported 1\.\n$/);
    await wire.cut();
    await database.query("DROP FUNCTION at_commit CASCADE");
    expect(await entries()).toHaveLength(1);
  });

  it.each([undefined, "INSERT ON earlyaccess"])(
    "imports nobody if Postgres refuses the commit of %s",
    async (change) => {
      await atCommit("RAISE EXCEPTION 'no'", change);
      const { code, stderr } = await importText(oneLine);
      await database.query("DROP FUNCTION at_commit CASCADE");
      expect([code, stderr]).toEqual([1, expect.stringMatching(/ \(P0001\); .* Nothing was imported\.\n$/)]);
      expect(await entries()).toEqual([]);
    },
  );

  it.each([
    ["", /is empty\.\n$/],
    ["Secret,secret@example.com,Secret\n", /^The first line names no column for the email; /],
    ["email,e-mail,name,company\n", /^Two columns are for email; leave one\.\n$/],
    [
      'name,email,company\nA,a@example.com,"Secret\nB,b@example.com,C\n',
      /is no CSV at line 3: a quote before it is never closed\.\n$/,
    ],
    [
      'name,email,company\nA,a@example.com,C\nB"Secret",b@example.com,C\n',
      /is no CSV at line 3: a quote stands where none may\.\n$/,
    ],
    [Buffer.from("\uFEFFname,email,company\n", "utf16le"), /is UTF-16\. Save it as CSV in UTF-8\.\n$/],
    [Buffer.from("name,email,company\nZo\xEB,a@example.com,C\n", "latin1"), /^Line 2: name: .*can't be stored/],
  ])("refuses %j in a sentence that quotes nothing of it", async (text, message) => {
    const { code, stderr } = await importText(text);
    expect(code).toBe(1);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/secret/i);
  });
});

describe("erase", () => {
  it("removes the address in whatever spelling, keeps the trace, and may be repeated", async () => {
    await add("Zoë", "zoe@xn--mnchen-3ya.de", { created_at: "2026-01-02T03:04:05Z" });
    await add("Ada", "ada@example.com");
    await database.query("UPDATE earlyaccess SET status = 'invited' WHERE name = 'Zoë'");
    const [{ id }] = (await database.query("SELECT id FROM earlyaccess WHERE name = 'Zoë'")) as [{ id: string }];
    const stdout =
      "Removed 1 entry with everything in it: of 2026-01-02, status invited. Its 1 status change stays and names nobody.\n";
    expect(await waitlist(["erase", " ZOE@München.de"])).toEqual({ code: 0, stdout, stderr: "" });
    expect(await entries()).toMatchObject([{ name: "Ada" }]);
    expect(await database.query("SELECT FROM earlyaccess_status_changes WHERE entry_id = $1", [id])).toHaveLength(1);
    const none = "There was no entry with this address.\n";
    expect(await waitlist(["erase", "zoe@münchen.de"])).toEqual({ code: 0, stdout: none, stderr: "" });
  });

  it("finds what was entered by hand, and says of anything else that it is no address", async () => {
    await add("By hand", "zoë");
    expect(await waitlist(["erase", "ZOË"])).toMatchObject({ code: 0, stderr: "" });
    expect(await entries()).toEqual([]);
    const stderr = "That is not an email address, and nothing was removed.\n";
    expect(await waitlist(["erase", "ZOË"])).toEqual({ code: 1, stdout: "", stderr });
  });
});

describe("admin", () => {
  const admins = (...args: string[]) =>
    runWaitlist({ ...database, adminUrl: database.adminRoleUrl }, ["admin", ...args], {}, program);
  const name = () => `${new URL(database.adminRoleUrl).username}_ada`;

  it("adds a login that changes a status under its own name, lists it, and removes it", async () => {
    expect(await admins("add", name())).toEqual({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^There is no role ".*_admin" yet\. Migrate: npm run migrate; /),
    });
    await migrate({ ...database, adminUrl: database.adminRoleUrl });
    await add("Ada", "ada@example.com");
    const added = await admins("add", name());
    expect([added.code, added.stderr]).toEqual([0, ""]);
    const [, password] = /^Added .*, which is not shown again:\n([0-9a-f]{48})\n$/.exec(added.stdout) ?? [];
    const url = new URL(database.adminRoleUrl);
    [url.username, url.password] = [name(), password ?? ""];
    await queryAs(url.href, "UPDATE earlyaccess SET status = 'invited'");
    const latest = "SELECT changed_by FROM earlyaccess_status_changes ORDER BY id DESC LIMIT 1";
    expect(await database.query(latest)).toEqual([{ changed_by: name() }]);
    expect(await admins("list")).toEqual({ code: 0, stdout: `${name()}\n`, stderr: "" });
    expect(await admins("add", name())).toMatchObject({ code: 1, stdout: "" });
    expect(await admins("remove", name())).toMatchObject({ code: 0, stderr: "" });
    expect(await admins("list")).toEqual({ code: 0, stdout: "", stderr: "" });
    await expect(queryAs(url.href, "SELECT 1")).rejects.toMatchObject({ code: "28P01" });
  });

  it.each([
    [[], 2, /^admin needs ACTION\. /],
    [["rename", "ada"], 2, /^admin does not know "rename"\. It knows add, list and remove\.\n$/],
    [["add"], 2, /^admin add needs NAME\.\n$/],
    [["list", "ada"], 2, /^admin list takes no NAME\.\n$/],
    [["remove", "nobody"], 1, /^"nobody" is not an admin\. There are no admins\.\n$/],
  ])("refuses %j in a sentence", async (args, code, sentence) => {
    await migrate({ ...database, adminUrl: database.adminRoleUrl });
    expect(await admins(...args)).toEqual({ code, stdout: "", stderr: expect.stringMatching(sentence) });
  });

  it("says which variable it needs", async () => {
    const { code, stderr } = await waitlist(["admin", "list"]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^DATABASE_ADMIN_URL is not set\. Set it, for example /)]);
  });
});
