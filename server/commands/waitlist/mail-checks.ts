// The checks of doctor about mails: the DNS records of their domain, the confirmations, the server, and a test mail.
import dns from "node:dns";
import type { SendMailOptions } from "nodemailer";
import type pg from "pg";
import { waitingFlag } from "../../models/operators/mails.ts";
import { countUnsentMails } from "../../models/operators/mail-state.ts";
import { readMailPace, waitsForConfirmations } from "../../models/operators/mail-pace.ts";
import { createToken } from "../../models/entry-tokens.ts";
import type { Config } from "../../config/settings.ts";
import { loadConfig } from "../../config/load-config.ts";
import { normaliseEmail } from "../../models/sign-up-rules.ts";
import { OperatorError } from "../../errors.ts";
import { printable } from "../../text.ts";
import { count, retryHint } from "../command.ts";
import type { MailError } from "../../worker/mail-server.ts";
import { ok, problem, warn, type Finding } from "./finding.ts";

/** In milliseconds, for all records together. */
const dnsMs = 3_000;

export async function examineMailDomain({ MAIL_FROM }: Config): Promise<Finding[]> {
  const domain = MAIL_FROM?.address.split("@").at(-1)?.toLowerCase() ?? "";
  const resolver = new dns.promises.Resolver();
  resolver.setServers(dns.getServers());
  const timer = setTimeout(() => resolver.cancel(), dnsMs);
  try {
    const { mx, spf, dmarc } = await countRecords(resolver, domain);
    return [
      describe("MX", domain, mx, "MX 10 your-mail-server."),
      describe("SPF", domain, spf, 'TXT "v=spf1 include:your-provider ~all"'),
      describe("DMARC", `_dmarc.${domain}`, dmarc, `TXT "v=DMARC1; p=none; rua=mailto:dmarc@${domain}"`),
      ok("DKIM", "only a mail names its record: send one with --mail. Its Authentication-Results must have dkim=pass."),
    ];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return [warn("Mail domain", `DNS does not answer (${code}): no check of MX, SPF and DMARC of ${domain}.`)];
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the number of records of each kind; MX records count as one, and none if they accept no mail. */
async function countRecords(resolver: dns.promises.Resolver, domain: string) {
  const countTexts = async (name: string, kind: RegExp) =>
    (await orNone(resolver.resolveTxt(name))).filter((parts) => kind.test(parts.join(""))).length;
  // The policy of a parent counts, too: that of perennial.co.uk for mail.perennial.co.uk.
  const parents = Array.from(domain.matchAll(/\./g), ({ index }) => domain.slice(index + 1)).slice(0, -1);
  const [exchanges, spf, policies] = await Promise.all([
    orNone(resolver.resolveMx(domain)),
    countTexts(domain, /^v=spf1(?: |$)/i),
    Promise.all([domain, ...parents].map((name) => countTexts(`_dmarc.${name}`, /^v=DMARC1\b/i))),
  ]);
  const mx = exchanges.some(({ exchange }) => exchange !== "") ? 1 : 0;
  return { mx, spf, dmarc: policies.find(Boolean) ?? 0 };
}

/** Returns no records if the name has none. */
async function orNone<T>(records: Promise<T[]>): Promise<T[]> {
  return records.catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENODATA" || error.code === "ENOTFOUND") return [];
    throw error;
  });
}

/** Receivers treat several SPF or DMARC records like none. */
function describe(what: string, name: string, records: number, example: string): Finding {
  if (records === 1) return ok(what, `${name} has a record`);
  if (records > 1) return warn(what, `${name} has ${records} records. Merge them into one.`);
  return warn(what, `${name} has no record. Add one: ${name}. ${example}`);
}

export async function examineConfirmations(owner: pg.Client, { UNCONFIRMED_DAYS }: Config): Promise<Finding> {
  const pace = await readMailPace(owner, UNCONFIRMED_DAYS);
  const state = `${pace.confirmed} of the latest ${pace.mails} mails that are older than two hours were confirmed`;
  if (!pace.isReached) return ok("Confirmations", state);
  const { rows } = await owner.query(
    "SELECT count(*)::int AS waiting FROM graphile_worker.jobs WHERE starts_with(last_error, $1)",
    [waitsForConfirmations],
  );
  const effect = `Mails wait for confirmations. Jobs that wait or were given up for this: ${rows[0].waiting}`;
  const hint =
    "Look at the entries with stats and export. Erase those that bots typed. If people typed them, repair DNS: the mails may lie in spam folders.";
  return warn("Confirmations", `${state}. ${effect}. ${hint}`);
}

/**
 * Says what the mail server said if it accepts no mail, who was given up, and which sign-ups have neither a mail nor a job. The
 * servers of some people never take the mail, so these are a warning only if they are more than 1 % of the sign-ups of 14 days.
 */
export async function examineUnsent(owner: pg.Client): Promise<Finding> {
  const { givenUp, areMany, refusal, missing } = await countUnsentMails(owner);
  const { rows } = await owner.query(
    `SELECT count(*)::int AS waiting, max(last_error) AS error,
       -- A mail that is being sent has mailed_at, too.
       max(created_at) > coalesce((SELECT max(mailed_at) FROM public.earlyaccess WHERE mailed_at < now() - interval '2 minutes'),
                                  '-infinity') AS fails
     FROM graphile_worker.jobs WHERE task_identifier = 'mail' AND flags ? $1`,
    [waitingFlag],
  );
  const { waiting, error, fails } = rows[0];
  const sentences = [
    fails &&
      `The mail server accepts none. ${printable(error ?? "")}. Mails that wait: ${count(waiting)}; one a minute is tried.`,
    givenUp > 0 && `People who were given up: ${count(givenUp)}, most with ${printable(refusal ?? "")}.`,
    missing > 0 && `Sign-ups without a mail or a job: ${count(missing)}.`,
    (givenUp > 0 || missing > 0) && retryHint,
  ].filter(Boolean);
  if (sentences.length === 0) return ok("Unsent mails", "no mail was given up, and none is missing");
  const judge = fails || missing > 0 || areMany ? warn : ok;
  return judge("Unsent mails", sentences.join(" "));
}

export async function examineMailServer(url: string, { PUBLIC_URL = "" }: Config): Promise<Finding> {
  const { MailError, verifyMailServer } = await import("../../worker/mail-server.ts"); // nodemailer
  try {
    await verifyMailServer({ url, client: new URL(PUBLIC_URL).hostname });
    return ok("SMTP_URL", "the mail server accepts connections");
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    return problem("SMTP_URL", `${error.message}. Mails wait. ${findCure(error)}`);
  }
}

/** What to do, by the failed step and its code; the first that matches counts. A reply to a login is not printed. */
const cures: [failure: RegExp, cure: string][] = [
  [/ALTNAME|EXPIRED/, "The certificate has expired or names another host: renew it, or use the host that it names."],
  [/CERT|UNABLE_TO_/, "For an authority of your own, see docs/mail.md, Docker Compose."],
  [/TIMEOUT|TIMEDOUT/, "Many hosts block the ports 25 and 465: use port 587, or ask yours. Port 465 needs smtps://."],
  [/SSL|^STARTTLS 5/, "TLS from the start (port 465) needs smtps://, STARTTLS (port 587) smtp://."],
  [/ 4\d\d/, "The server takes none for now. If it stays so, ask its operator."],
  [/^AUTH.* 50\d/, "The server offers no login: use its port for logins (587 or 465), or a URL without one."],
  [/AUTH/, "Correct user and password in the URL. Some providers want a password for programs, or SMTP to be allowed."],
  [/ 5\d\d/, "The server refuses this host. Ask its operator, look into blocklists, or use a server with a login."],
];

function findCure({ step, code }: MailError): string {
  const [, cure] = cures.find(([failure]) => failure.test(`${step} ${code}`)) ?? [];
  return cure ?? "Correct the URL, or start the server.";
}

/** Sends the confirmation mail with links of no entry. */
export async function sendTestMail(email: string): Promise<Finding> {
  const config = loadConfig();
  const { MAIL_FROM: from, SMTP_URL: url } = config;
  const to = readTestAddress("--mail", email);
  if (!from || !url) throw new OperatorError("A test mail needs MAIL_FROM and SMTP_URL: see docs/mail.md.");
  const { composeMessage, mailedSite } = await import("../../worker/mail.ts");
  const site = mailedSite(config);
  return sendTest(url, site.origin, composeMessage({ from, site }, to, createToken().token));
}

export function readTestAddress(option: string, email: string): string {
  const to = normaliseEmail(email);
  if (to) return to;
  throw new OperatorError(`${option} is "${printable(email)}" but must be an email address.`);
}

/** Returns the server's answer. */
export async function sendTest(
  url: string,
  origin: string,
  mail: SendMailOptions & { to: { address: string }; subject: string },
): Promise<Finding> {
  const { MailError, sendMail } = await import("../../worker/mail-server.ts"); // nodemailer
  try {
    const server = { url, client: new URL(origin).hostname };
    const { response, messageId } = await sendMail(server, { ...mail, subject: `Test: ${mail.subject}` });
    return ok("Test mail", `the server answered ${response}\nMessage-ID: ${messageId}`);
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    const isAboutMail = ["MAIL FROM", "RCPT TO", "DATA"].includes(error.step) && error.reply;
    return problem("Test mail", isAboutMail || `${error.message}. ${findCure(error)}`);
  }
}
