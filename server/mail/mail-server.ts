// The mail server: sends one message with nodemailer. Its errors have the server's words, without the recipient's address.
import { once } from "node:events";
import { createTransport, type NodemailerError, type SendMailOptions } from "nodemailer";
import { mayHoldEmail, printable } from "../errors.ts";
import { isOfAddress } from "../models/operators/mails.ts";

export interface MailServer {
  /** smtps:// is TLS from the start. smtp:// requires STARTTLS if the URL has credentials; otherwise it uses it, if offered, with any certificate. */
  url: string;
  /** The host name that the worker sends in EHLO. */
  client: string;
}

/** The message has the server's words, for the log and the queue. */
export class MailError extends Error {
  override name = "MailError";
  /** The command that failed, or CONN. */
  declare readonly step: string;
  /** Reply code and enhanced code (RFC 3463) or, without a reply, the error's code. */
  declare readonly code: string;
  /** What mail_refusal records; undefined if the reply is not about the address. */
  declare readonly refusal: string | undefined;
  /** True if the connection ended after the message, before the reply. */
  declare readonly mayHaveArrived: boolean;
  /** The server's words. Not for the log: they may repeat the address. */
  declare readonly reply: string;

  constructor(message: string, facts: Omit<MailError, keyof Error>) {
    super(`Mail server error${message}`);
    Object.assign(this, facts);
  }
}

/** nodemailer's own limits are up to ten minutes, for which a silent server would hold up every mail. */
export const mailTimeouts = {
  dnsTimeout: 10_000,
  connectionTimeout: 10_000,
  greetingTimeout: 10_000,
  socketTimeout: 30_000, // A server that scans each message may need some seconds.
};

/** For a server that sends a byte now and then. */
export const longestMessageMs = 5 * 60_000;

/** Resolves with the server's words when it has accepted the message. @throws MailError */
export async function sendMail(server: MailServer, mail: SendMailOptions & { to: { address: string } }) {
  const transport = createMailTransport(server);
  let isHandedOver = false;
  transport.use("stream", ({ message }, done) => {
    // nodemailer reads the message when the server has accepted sender and recipient.
    message.processFunc((stream) => stream.once("end", () => (isHandedOver = true)));
    done();
  });
  const signal = AbortSignal.timeout(longestMessageMs);
  return transport.sendMail({ ...mail, signal }).catch((error: NodemailerError) => {
    throw toMailError(error, isHandedOver, mail.to.address);
  });
}

/** Connects, logs in if the URL has credentials, and sends nothing. @throws MailError */
export async function verifyMailServer(server: MailServer): Promise<void> {
  const limit = once(AbortSignal.timeout(longestMessageMs), "abort").then(() => {
    throw Object.assign(new Error(), { code: "EABORT" }); // As nodemailer for a message.
  });
  await Promise.race([createMailTransport(server).verify(), limit]).catch((error: NodemailerError) => {
    throw toMailError(error);
  });
}

function createMailTransport({ url, client }: MailServer) {
  const { protocol, hostname, port, username, password } = new URL(url);
  const isSecure = protocol === "smtps:";
  const hasLogin = username !== "";
  const auth = { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  return createTransport({
    // Without forceAuth, a server that offers no login would get the mails without one.
    ...(hasLogin && { auth, forceAuth: true }),
    name: client,
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: port ? Number(port) : isSecure ? 465 : 587,
    secure: isSecure,
    requireTLS: hasLogin,
    tls: { rejectUnauthorized: isSecure || hasLogin },
    ...mailTimeouts,
  });
}

function toMailError(error: NodemailerError, isHandedOver = false, email = ""): MailError {
  const { command: step = "", response = "", responseCode } = error;
  const code = codeOf(error);
  // The reply to a login may repeat the login.
  const reply = step.startsWith("AUTH") ? "" : response;
  // CONN is no command: the server refused the connection.
  const place = responseCode && step !== "CONN" ? ` (${step})` : "";
  return new MailError(`${place}: ${withoutEmail(reply, email) || code}`, {
    step,
    code,
    refusal: refusalOf(step, code),
    mayHaveArrived: isHandedOver && !responseCode,
    reply,
  });
}

/** Returns the codes of the reply; without a reply, the system's code, the kind of timeout, or nodemailer's code. */
function codeOf({ response = "", responseCode, originalCode, timeoutType, code }: NodemailerError): string {
  if (code === "EABORT") return "MESSAGE_TIMEOUT";
  if (!responseCode) return originalCode ?? timeoutType ?? code ?? "unknown error";
  const enhanced = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})(?!\S)/.exec(response)?.[1];
  return enhanced ? `${responseCode} ${enhanced}` : String(responseCode);
}

/** Returns what mail_refusal records of a reply about the address. */
function refusalOf(step: string, code: string): string | undefined {
  if (step !== "RCPT TO" && step !== "DATA") return undefined;
  const refusal = code.includes(" ") ? code : `${code} to ${step}`;
  return isOfAddress(refusal) ? refusal : undefined;
}

/** Returns at most 300 printable characters of a text on one line, without words that hold an address, or one of the two parts of the given one. */
function withoutEmail(text: string, email: string): string {
  const parts = email.split("@").map((part) => part.replaceAll(/\W/g, "\\$&"));
  const named = new RegExp(`(?<!\\w)(?:${parts.join("|")})(?!\\w)`, "i");
  const isHidden = (word: string) => mayHoldEmail(word) || (email !== "" && named.test(word));
  const words = text.split(/\s+/).map((word) => (isHidden(word) ? "…" : word));
  // Postgres takes no U+0000: what became of the mail could not be recorded.
  return printable(words.join(" ").slice(0, 300));
}
