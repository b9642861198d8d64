// What waitlist doctor says about mails: DNS records, confirmations, and a test mail.
import { createSocket } from "node:dgram";
import dns from "node:dns";
import { once } from "node:events";
import { expect, it, onTestFinished, vi } from "vitest";
import { confirmationMail, privacyPage } from "../../client/shared/content.ts";
import { migrate } from "../../server/database/migrate.ts";
import { erasureKey } from "../support/database.ts";
import { openMailServer, parseMail } from "../support/mail-server.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";
import { mailSettings } from "../support/worker.ts";

const { database, waitlist } = await createWaitlistFixture();
const mails = { ...mailSettings, PUBLIC_URL: "https://www.perennial.example" };

/** The exchange of the MX record and the texts of the TXT records, by name. */
type Zone = Record<string, { mx?: string; txt?: string[] }>;

/** Returns doctor's lines about the domain, whose records are those of the zone. */
async function examine(zone: Zone, changes = {}): Promise<string[]> {
  const find = async <T>(record: T | undefined, code: string) => {
    if (record === undefined) throw Object.assign(new Error("none"), { code });
    return record;
  };
  const { prototype } = dns.promises.Resolver;
  vi.spyOn(prototype, "resolveMx").mockImplementation(async (name) => [
    { priority: 10, exchange: await find(zone[name]?.mx, "ENODATA") },
  ]);
  vi.spyOn(prototype, "resolveTxt").mockImplementation(async (name) =>
    (await find(zone[name]?.txt, "ENOTFOUND")).map((text) => [text.slice(0, 9), text.slice(9)]),
  );
  const { stdout } = await waitlist(["doctor"], { ...mails, ...changes });
  return stdout.split("\n").filter((line) => /^\w+ +(?:MX|SPF|DMARC|DKIM): /.test(line));
}

const dkim = expect.stringMatching(/^ok {7}DKIM: only a mail names its record/) as string;

it("doctor accepts a domain with MX, one SPF record and DMARC, which it also finds at the organisation's domain", async () => {
  const well: Zone = {
    "perennial.example": { mx: "mx.mail.example", txt: ["v=spf10 mx", "v=spf1 include:spf.mail.example ~all"] },
    "_dmarc.perennial.example": { txt: ["v=DMARC10", "v=DMARC1; p=none"] },
    "mail.perennial.co.example": { mx: "mx.mail.example", txt: ["v=spf1 -all"] },
    "_dmarc.perennial.co.example": { txt: ["v=DMARC1; p=none"] },
  };
  const findings = (domain: string) => [
    `ok       MX: ${domain} has a record`,
    `ok       SPF: ${domain} has a record`,
    `ok       DMARC: _dmarc.${domain} has a record`,
    dkim,
  ];
  expect(await examine(well)).toEqual(findings("perennial.example"));
  const below = { MAIL_FROM: "hello@mail.perennial.co.example" };
  expect(await examine(well, below)).toEqual(findings("mail.perennial.co.example"));
});

it("doctor names the record that is missing", async () => {
  expect(await examine({})).toEqual([
    "warning  MX: perennial.example has no record. Add one: perennial.example. MX 10 your-mail-server.",
    'warning  SPF: perennial.example has no record. Add one: perennial.example. TXT "v=spf1 include:your-provider ~all"',
    'warning  DMARC: _dmarc.perennial.example has no record. Add one: _dmarc.perennial.example. TXT "v=DMARC1; p=none; rua=mailto:dmarc@perennial.example"',
    dkim,
  ]);
});

it("doctor refuses two SPF or DMARC records, and an MX record that accepts no mail", async () => {
  const [mx, spf, dmarc] = await examine({
    "perennial.example": { mx: "", txt: ["v=spf1 include:a.example mx -all", "v=spf1 mx include:b.example ~all"] },
    "_dmarc.perennial.example": { txt: ["v=DMARC1; p=none", "v=DMARC1; p=reject"] },
  });
  expect(mx).toMatch(/^warning {2}MX: /);
  expect(spf).toBe("warning  SPF: perennial.example has 2 records. Merge them into one.");
  expect(dmarc).toMatch(/^warning {2}DMARC: _dmarc\.perennial\.example has 2 records\. /);
});

/** Lets nobody answer questions to DNS until the test ends. */
function silenceDns(port = 9): void {
  const own = dns.getServers();
  dns.setServers([`127.0.0.1:${port}`]);
  onTestFinished(() => dns.setServers(own));
}

it("doctor warns if DNS does not answer", async () => {
  const silent = createSocket("udp4").bind(0, "127.0.0.1");
  onTestFinished(() => void silent.close());
  await once(silent, "listening");
  silenceDns(silent.address().port);
  expect((await waitlist(["doctor"], mails)).stdout).toMatch(
    /^warning {2}Mail domain: DNS does not answer \(ECANCELLED\): no check of MX, SPF and DMARC of perennial\.example\.$/m,
  );
});

const confirmedOf = (count: number) => `4 of the latest ${count} mails that are older than two hours were confirmed`;

it.each<[what: string, sent: number, changes: Record<string, string>, finding: string]>([
  ["says how many of the latest mails were confirmed", 624, {}, `ok       Confirmations: ${confirmedOf(100)}`],
  [
    "counts the jobs that wait for confirmations",
    625,
    {},
    `warning  Confirmations: ${confirmedOf(100)}. Mails wait for confirmations. Jobs that wait or were given up for this: 2. Look at the entries with stats and export. Erase those that bots typed. If people typed them, repair DNS: the mails may lie in spam folders.`,
  ],
  [
    "counts of the mails before UNCONFIRMED_DAYS only those that were confirmed",
    624,
    { UNCONFIRMED_DAYS: "7" },
    `ok       Confirmations: ${confirmedOf(99)}`,
  ],
])("doctor %s", async (_, sent, changes, finding) => {
  silenceDns();
  await migrate({ ...database, erasureKey, worker: { url: database.workerUrl, tasks: ["mail"] } });
  await database.query(
    `TRUNCATE earlyaccess, earlyaccess_mail_passes;
     INSERT INTO earlyaccess (id, name, email, company, mailed_at, confirmed_at, imported)
     SELECT gen_random_uuid(), 'A', i || '@example.com', 'C', now() - i * interval '100 minutes',
       CASE WHEN i <= 5 THEN now() WHEN i > 101 THEN now() - interval '20 days' END, true
     FROM generate_series(160, 1, -1) i;
     INSERT INTO earlyaccess_mail_passes (minute, jobs) VALUES (now(), ${sent});
     DELETE FROM graphile_worker._private_jobs;
     SELECT graphile_worker.add_job('mail', '{}') FROM generate_series(1, 3);
     UPDATE graphile_worker._private_jobs SET attempts = 1, last_error = 'The mail waits for confirmations of earlier ones: 4 of'
     WHERE id < (SELECT max(id) FROM graphile_worker.jobs)`,
  );
  const { stdout } = await waitlist(["doctor"], { ...mails, ...changes, WORKER_DATABASE_URL: database.workerUrl });
  expect(/^\w+ +Confirmations: .*$/m.exec(stdout)?.[0]).toBe(finding);
});

it("doctor --mail sends the confirmation mail with links of no entry, and prints the server's answer or refusal", async () => {
  const server = await openMailServer();
  onTestFinished(() => server.close());
  const send = (email: string, env = {}) => waitlist(["doctor", "--mail", email], { ...mails, ...env });
  const { code, stdout } = await send("Ada@example.com", { SMTP_URL: server.url, RETENTION_MONTHS: "24" });
  const { headers, text } = parseMail(server.mails[0]?.raw ?? "");
  expect([code, stdout]).toEqual([
    0,
    `ok       Test mail: the server answered 250 OK: message queued\n         Message-ID: ${headers["message-id"]}\n`,
  ]);
  expect(server.mails).toMatchObject([{ client: "www.perennial.example", to: "ada@example.com" }]);
  expect(headers.subject).toBe(`Test: ${confirmationMail.subject}`);
  expect(text).toMatch(/https:\/\/www\.perennial\.example\/confirm\?token=[\da-f]{32}\n/);
  expect(text).toContain(privacyPage.retention(24));
  expect(await database.query("SELECT FROM earlyaccess WHERE email = 'ada@example.com'")).toEqual([]);
  server.fail("recipient", "550 5.1.1 Nobody is ada@example.com");
  expect(await send("ada@example.com", { SMTP_URL: server.url })).toEqual({
    code: 1,
    stdout: expect.stringMatching(
      /^problem {2}Test mail: .*550 5\.1\.1 Nobody is ada@example\.com <ada@example\.com>\n$/,
    ) as string,
    stderr: "",
  });
  expect((await send("ada")).stderr).toContain('--mail is "ada" but must be an email address.');
  expect((await send("ada@example.com")).stderr).toContain("A test mail needs MAIL_FROM and SMTP_URL");
});

it.each<[fault: string, reply: string, scheme: string, cure: string]>([
  ["blocks its host", "554 5.7.1 blocked using zen.spamhaus.org", "smtp:", "The server refuses this host. "],
  ["is busy", "421 4.7.0 too many connections", "smtp:", "The server takes none for now. "],
  ["never answers", "hang", "smtp:", "Many hosts block the ports 25 and 465: use port 587, or ask yours. "],
  ["has no TLS from the start", "hang", "smtps:", "TLS from the start (port 465) needs smtps://, STARTTLS (port 587) "],
])("doctor names the cure if the mail server %s", async (_, reply, scheme, cure) => {
  const server = await openMailServer();
  onTestFinished(() => server.close());
  server.fail("connect", reply);
  const { stdout } = await waitlist(["doctor"], { ...mails, SMTP_URL: server.url.replace("smtp:", scheme) });
  expect(/^problem {2}SMTP_URL: .*$/m.exec(stdout)?.[0]).toContain(`. Mails wait. ${cure}`);
});
