// The mail server: sends one message with nodemailer. Its errors hold neither an address nor the server's text.
import { createTransport, type NodemailerError, type SendMailOptions } from "nodemailer";

export interface MailServer {
  /** smtps:// is TLS from the start. smtp:// requires STARTTLS if the URL has credentials; otherwise it uses STARTTLS if offered. */
  url: string;
  /** The host name that the worker sends in EHLO. */
  client: string;
}

/** The message of a MailError begins with this. */
export const mailServerError = "Mail server error";

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
    super(`${mailServerError}: ${code}${command ? ` to ${command}` : ""}`);
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
  return transport.sendMail(mail).catch((error: NodemailerError) => {
    throw toMailError(error, isHandedOver);
  });
}

/** Connects, logs in if the URL has credentials, and sends nothing. @throws MailError */
export async function verifyMailServer(server: MailServer): Promise<void> {
  await createMailTransport(server)
    .verify()
    .catch((error: NodemailerError) => {
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

function toMailError(error: NodemailerError, isHandedOver: boolean): MailError {
  const { code = "unknown error", timeoutType = code, originalCode = timeoutType, command } = error;
  const { response = "", responseCode, permanent = false } = error;
  const enhanced = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})(?!\S)/.exec(response)?.[1];
  // CONN is no command: the server refused the connection.
  const refused = responseCode && command !== "CONN" ? command : undefined;
  const isOfMessage = refused === "RCPT TO" || refused === "DATA";
  const reason = responseCode ? [responseCode, enhanced].filter(Boolean).join(" ") : originalCode;
  return new MailError(reason, refused, isOfMessage && permanent, isHandedOver && !isOfMessage, response);
}
