// The mail server: sends one message over a new SMTP connection, and says whether the server took it.
import { Readable } from "node:stream";
import MailComposer from "nodemailer/lib/mail-composer";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import { withDeadline } from "./deadline.ts";

export interface MailServer {
  /** smtps:// is TLS from the start. smtp:// requires STARTTLS if the URL has credentials; otherwise it uses STARTTLS if offered. */
  url: string;
  /** The host name that the worker sends in EHLO. */
  client: string;
}

export type MailMessage = ConstructorParameters<typeof MailComposer>[0];

/**
 * - `refused`: the server refused the recipient or the message permanently.
 * - `deferred`: the server refused the recipient or the message temporarily.
 * - `failed`: the server cannot be used now, or not with these settings. It did not take the message.
 * - `unknown`: the connection ended after the message was sent. The server may have taken it.
 */
export type MailFault = "refused" | "deferred" | "failed" | "unknown";

/** The message has codes only: the server's text usually repeats the recipient's address. */
export class MailError extends Error {
  override name = "MailError";

  constructor(
    readonly fault: MailFault,
    /** Reply code and enhanced code (RFC 3463) or, without a reply, the error's code. */
    readonly code: string,
    command?: string,
  ) {
    super(`${sentences[fault]}: ${code}${command ? ` to ${command}` : ""}`);
  }
}

const sentences: Record<MailFault, string> = {
  refused: "The mail server refused the message",
  deferred: "The mail server deferred the message",
  failed: "The mail server cannot be used",
  unknown: "The mail server did not confirm the message",
};

/** In milliseconds, from the connection to the last reply. A server that scans each message may need some seconds. */
const timeoutMs = 30_000;
/** In milliseconds, for the name, the connection, the greeting and STARTTLS. */
const connectionTimeoutMs = 10_000;

/**
 * Resolves when the server has taken the message.
 * @throws MailError
 */
export async function sendMail(server: MailServer, mail: MailMessage, signal: AbortSignal): Promise<void> {
  let isBodySent = false;
  try {
    const message = new MailComposer(mail).compile();
    const bytes = await message.build();
    // Read only when the server has accepted sender and recipient, and waits for the message.
    const body = new Readable({
      read() {
        isBodySent = true;
        this.push(bytes);
        this.push(null);
      },
    });
    await connect(server, signal, (connection, done) => connection.send(message.getEnvelope(), body, done));
  } catch (error) {
    throw toMailError(error as SmtpError, isBodySent);
  }
}

/**
 * Connects, logs in if the URL has credentials, and sends nothing.
 * @throws MailError
 */
export async function verifyMailServer(server: MailServer): Promise<void> {
  try {
    await connect(server, new AbortController().signal, (_connection, done) => done());
  } catch (error) {
    throw toMailError(error as SmtpError, false);
  }
}

type Done = (error?: Error | null) => void;

/** Connects, logs in, lets `use` do its part until it calls `done`, and closes the connection. */
function connect(
  server: MailServer,
  outer: AbortSignal,
  use: (connection: SMTPConnection, done: Done) => void,
): Promise<void> {
  const { auth, ...options } = readUrl(server);
  const connection = new SMTPConnection(options);
  const converse = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const done: Done = (error) => (error ? reject(error) : resolve());
      const next = (step: () => void) => (error?: Error | null) => (error ? reject(error) : step());
      const end = () => reject(Object.assign(new Error("The time is over"), { code: "ETIMEDOUT" }));
      signal.addEventListener("abort", end);
      connection.on("error", reject);
      const start = () => use(connection, done);
      connection.connect(next(() => (auth ? connection.login(auth, next(start)) : start())));
      if (signal.aborted) end();
    });
  return withDeadline(timeoutMs, outer, converse).finally(() => connection.close());
}

function readUrl({ url, client }: MailServer) {
  const { protocol, hostname, port, username, password } = new URL(url);
  const auth = username ? { user: decodeURIComponent(username), pass: decodeURIComponent(password) } : undefined;
  return {
    auth,
    name: client,
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: port ? Number(port) : protocol === "smtps:" ? 465 : 587,
    secure: protocol === "smtps:",
    requireTLS: protocol === "smtp:" && auth !== undefined,
    dnsTimeout: connectionTimeoutMs,
    connectionTimeout: connectionTimeoutMs,
    greetingTimeout: connectionTimeoutMs,
  };
}

/** What nodemailer's smtp-connection adds to an error. */
interface SmtpError extends Error {
  code?: string;
  /** Of the operating system or of TLS. */
  originalCode?: string;
  /** Which of nodemailer's timeouts it was. */
  timeoutType?: string;
  /** The command that the server refused; CONN or API if it refused none. */
  command?: string;
  /** The server's reply. */
  response?: string;
}

function toMailError(error: SmtpError, isBodySent: boolean): MailError {
  const { code = "", timeoutType = code, originalCode = timeoutType, command, response = "" } = error;
  const [, status, enhanced] = /^([45]\d\d)(?:[ -]([245]\.\d{1,3}\.\d{1,3})(?!\S))?/.exec(response) ?? [];
  // CONN: the server ended the connection. If it had the message, nobody knows which of the two it meant.
  const isReply = status !== undefined && command !== "CONN";
  const fallback = /^\w+$/.test(originalCode) ? originalCode : "unknown error";
  const reason = status ? [status, enhanced].filter(Boolean).join(" ") : fallback;
  const refused = isReply ? command : undefined;
  if (isReply && (command === "RCPT TO" || command === "DATA")) {
    return new MailError(status.startsWith("5") ? "refused" : "deferred", reason, refused);
  }
  return new MailError(isBodySent ? "unknown" : "failed", reason, refused);
}
