// A real SMTP server that accepts, refuses or hangs as a test wants, and keeps what it gets; a parser of mails; a certificate.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { AddressInfo, Socket } from "node:net";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { SMTPServer, type SMTPServerSession } from "smtp-server";

export type Step = "connect" | "login" | "sender" | "recipient" | "data";

/** Whether a step fails for the recipient. */
type Only = Pick<RegExp, "test">;

export interface MailServerOptions {
  /** 0 for any; the port of a closed server opens it again. */
  port?: number;
  encryption?: "none" | "STARTTLS" | "TLS";
  /** Undefined: the valid one. */
  certificate?: string;
  /** The only login that is accepted. Undefined: none is needed. */
  login?: { user: string; password: string };
  /** False: EHLO names no login, and the server knows none. */
  offersLogin?: boolean;
}

export type MailServer = Awaited<ReturnType<typeof openMailServer>>;

export async function openMailServer(options: MailServerOptions = {}) {
  const { port = 0, encryption = "none", login, offersLogin = true } = options;
  const mails: { client: string; to: string; raw: string }[] = [];
  const recipients: string[] = [];
  const accepted: string[] = [];
  const held: (() => void)[] = [];
  const sockets = new Set<Socket>();
  let failing: { step: Step; reply: string; only: Only | undefined } | undefined;
  function answer(step: Step, callback: (error?: Error | null) => void, recipient = recipients.at(-1)) {
    if (failing?.step !== step || failing.only?.test(recipient ?? "") === false) return callback();
    if (failing.reply === "drop") for (const socket of sockets) socket.destroy();
    if (failing.reply === "hold") held.push(() => answer(step, callback, recipient));
    const [, code, message] = /^(\d+) (.*)$/s.exec(failing.reply) ?? [];
    // smtp-server sends a line for each element.
    const lines = `${message} <${recipient}>`.split("\n") as unknown as string;
    if (code) callback(Object.assign(new Error(), { responseCode: Number(code), message: lines }));
  }
  async function take(stream: Readable, { envelope, hostNameAppearsAs: client }: SMTPServerSession) {
    const to = envelope.rcptTo.map(({ address }) => address).join();
    mails.push({ client, to, raw: await text(stream) });
    return to;
  }
  const server = new SMTPServer({
    key,
    cert: options.certificate ?? certificate,
    secure: encryption === "TLS",
    disabledCommands: [...(encryption === "none" ? ["STARTTLS"] : []), ...(offersLogin ? [] : ["AUTH"])],
    allowInsecureAuth: encryption === "none",
    authOptional: !login || !offersLogin,
    disableReverseLookup: true,
    closeTimeout: 1,
    onAuth: ({ username, password }, _session, callback) => {
      if (failing?.step === "login") answer("login", callback);
      else if (username === login?.user && password === login?.password) callback(null, { user: username });
      else callback(new Error(`Nobody here is ${username} with ${password}`));
    },
    onConnect: (_session, callback) => answer("connect", callback),
    onMailFrom: (_address, _session, callback) => answer("sender", callback),
    onRcptTo: ({ address }, _session, callback) => {
      recipients.push(address);
      answer("recipient", callback, address);
    },
    onData: (stream, session, callback) => {
      const conclude = (to: string) => (error?: Error | null) => {
        if (!error) accepted.push(to);
        callback(error);
      };
      // Rejects if the client leaves in the middle of the message.
      void take(stream, session).then((to) => answer("data", conclude(to), to), callback);
    },
  });
  server.on("error", () => undefined); // A client that refuses the certificate.
  server.server.on("connection", (socket: Socket) => sockets.add(socket));
  server.listen(port, "127.0.0.1");
  await once(server.server, "listening");
  const credentials = login ? `${encodeURIComponent(login.user)}:${encodeURIComponent(login.password)}@` : "";
  const scheme = encryption === "TLS" ? "smtps" : "smtp";
  return {
    url: `${scheme}://${credentials}localhost:${(server.server.address() as AddressInfo).port}`,
    /** Every complete message with its headers, also one that was refused, and the name of the client in EHLO. */
    mails,
    /** The addresses of every RCPT TO, in order. */
    recipients,
    /** The recipients of the messages that were accepted. */
    accepted,
    connections: () => sockets.size,
    /**
     * Fails at a step from now on: sends the reply, closes the connection ("drop"), or sends nothing ("hang") or nothing until the next
     * call ("hold"). Without a step, accepts. @param only the recipients for whom it fails; undefined: everybody.
     */
    fail: (step?: Step, reply = "hang", only?: Only) => {
      failing = step && { step, reply, only };
      for (const release of held.splice(0)) release();
    },
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

/** Returns the headers by their names in lower case, and the decoded parts: one plain, one HTML. */
export function parseMail(raw: string): { headers: Record<string, string>; text: string; html: string } {
  const { headers, body } = splitHeaders(raw.replaceAll("\r\n", "\n"));
  const boundary = /boundary="([^"]+)"/.exec(headers["content-type"] ?? "")?.[1];
  const [plain = "", html = ""] = body.split(`--${boundary}`).slice(1, -1).map(decode);
  return { headers, text: plain, html };
}

function splitHeaders(part: string): { headers: Record<string, string>; body: string } {
  const [head = "", ...paragraphs] = part.split("\n\n");
  const lines = head.replaceAll(/\n[ \t]+/g, " ").matchAll(/^([^:]+): *(.*)$/gm);
  const headers = Array.from(lines, ([, name = "", value = ""]) => [name.toLowerCase(), decodeWords(value)] as const);
  return { headers: Object.fromEntries(headers), body: paragraphs.join("\n\n") };
}

function decode(part: string): string {
  const { headers, body } = splitHeaders(part.trimStart());
  const encoding = headers["content-transfer-encoding"];
  if (encoding === "base64") return decodeBase64(body);
  return encoding === "quoted-printable" ? decodeQuotedPrintable(body) : body;
}

/** Decodes the encoded words (RFC 2047) of a header that is not ASCII. */
const decodeWords = (value: string) =>
  value.replaceAll(/=\?UTF-8\?([QB])\?([^?]*)\?=(?: (?==\?))?/g, (_, encoding, word: string) =>
    encoding === "B" ? decodeBase64(word) : decodeQuotedPrintable(word.replaceAll("_", " ")),
  );

const decodeBase64 = (encoded: string) => Buffer.from(encoded, "base64").toString("utf8");

function decodeQuotedPrintable(encoded: string): string {
  const bytes = encoded
    .replaceAll("=\n", "")
    .replaceAll(/=([\dA-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString("utf8");
}

const read = (name: string) => readFileSync(new URL(name, import.meta.url), "utf8");

/** Self-signed for localhost, valid until 2126; made with openssl. */
export const certificate = read("localhost.crt");
export const expiredCertificate = read("expired.crt");
export const key = read("localhost.key");
