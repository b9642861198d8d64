// The mail server: sends one message with nodemailer. Its errors hold neither an address nor the server's text.
import { createTransport, type SendMailOptions } from "nodemailer";

export interface MailServer {
  /** smtps:// is TLS from the start. smtp:// requires STARTTLS if the URL has credentials; otherwise it uses STARTTLS if offered. */
  url: string;
  /** The host name that the worker sends in EHLO. */
  client: string;
}

/** The message has codes only: the server's text usually repeats the recipient's address. */
export class MailError extends Error {
  override name = "MailError";

  constructor(
    /** Reply code and enhanced code (RFC 3463) or, without a reply, the error's code. */
    readonly code: string,
    command: string | undefined,
    /** True if the server refused the recipient or the message permanently. */
    readonly isRefusal: boolean,
    /** True if the connection ended after the message, before the reply. */
    readonly mayHaveArrived: boolean,
    /** The server's words. Not for the log: they may repeat the address. */
    readonly reply: string,
  ) {
    super(`Mail server error: ${code}${command ? ` to ${command}` : ""}`);
  }
}

/** In milliseconds, for the name, the connection, the greeting and STARTTLS. */
const connectionMs = 10_000;

/** Resolves with the server's words when it has accepted the message. @throws MailError */
export async function sendMail(server: MailServer, mail: SendMailOptions) {
  const transport = createMailTransport(server);
  let isHandedOver = false;
  transport.use("stream", ({ message }, done) => {
    // nodemailer reads the message when the server has accepted sender and recipient.
    message.processFunc((stream) => stream.once("end", () => (isHandedOver = true)));
    done();
  });
  return transport.sendMail(mail).catch((error: SmtpError) => {
    throw toMailError(error, isHandedOver);
  });
}

/** Connects, logs in if the URL has credentials, and sends nothing. @throws MailError */
export async function verifyMailServer(server: MailServer): Promise<void> {
  await createMailTransport(server)
    .verify()
    .catch((error: SmtpError) => {
      throw toMailError(error, false);
    });
}

function createMailTransport({ url, client }: MailServer) {
  const { protocol, hostname, port, username, password } = new URL(url);
  const auth = { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  return createTransport({
    ...(username && { auth }),
    name: client,
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: port ? Number(port) : protocol === "smtps:" ? 465 : 587,
    secure: protocol === "smtps:",
    requireTLS: protocol === "smtp:" && username !== "",
    dnsTimeout: connectionMs,
    connectionTimeout: connectionMs,
    greetingTimeout: connectionMs,
    socketTimeout: 30_000, // A server that scans each message may need some seconds.
  });
}

/** The fields that nodemailer adds to an error. */
interface SmtpError extends Error {
  code?: string;
  /** Of the operating system or of TLS. */
  originalCode?: string;
  timeoutType?: string;
  /** The command that the server refused; CONN or API if it refused none. */
  command?: string;
  /** The server's reply. */
  response?: string;
}

function toMailError(error: SmtpError, isHandedOver: boolean): MailError {
  const { code = "", timeoutType = code, originalCode = timeoutType, command, response = "" } = error;
  const [, status, enhanced] = /^([45]\d\d)(?:[ -]([245]\.\d{1,3}\.\d{1,3})(?!\S))?/.exec(response) ?? [];
  const refused = status && command !== "CONN" ? command : undefined;
  const isOfMessage = refused === "RCPT TO" || refused === "DATA";
  const fallback = /^\w+$/.test(originalCode) ? originalCode : "unknown error";
  const reason = status ? [status, enhanced].filter(Boolean).join(" ") : fallback;
  return new MailError(reason, refused, isOfMessage && reason.startsWith("5"), isHandedOver && !isOfMessage, response);
}
