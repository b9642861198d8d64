// waitlist import if Postgres or the connection fails: it is all or nothing.
import { writeFile } from "node:fs/promises";
import { beforeEach, expect, it, vi } from "vitest";
import { openWire } from "../support/tcp-proxy.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";

const { database, file, waitlist, entries } = createWaitlistFixture();

beforeEach(() => database.query("TRUNCATE earlyaccess"));

const importText = async (text: string) => {
  await writeFile(file("import.csv"), text);
  return waitlist(["import", file("import.csv")]);
};

it.each([
  ["refuses an entry", "RAISE EXCEPTION 'no %', NEW.email", "P0001"],
  ["ends the connection", "PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW", "57P01"],
])("removes its entries if Postgres %s midway", async (_, act, code) => {
  // The trigger acts on the last address, after other batches were committed.
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

/** Runs the PL/pgSQL when a transaction with such a change commits. */
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

it("reports an unknown outcome if the connection is lost during the commit, and can be repeated", async () => {
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
  // DROP waits for the commit.
  await database.query("DROP FUNCTION at_commit CASCADE");
  expect(await entries()).toHaveLength(1);
  expect((await importText(oneLine)).stdout).toMatch(/^1 lines, 1 already on the list, .*\nImported 0\.\n$/);
  expect(await entries()).toHaveLength(1);
});

it("reconnects and finds that the commit succeeded", async () => {
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
  "imports nothing if Postgres refuses the commit of %s",
  async (change) => {
    await atCommit("RAISE EXCEPTION 'no'", change);
    const { code, stderr } = await importText(oneLine);
    await database.query("DROP FUNCTION at_commit CASCADE");
    expect([code, stderr]).toEqual([1, expect.stringMatching(/ \(P0001\); .* Nothing was imported\.\n$/)]);
    expect(await entries()).toEqual([]);
  },
);
