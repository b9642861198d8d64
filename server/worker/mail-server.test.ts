// What a failure of each step of SMTP says about the message. tests/process/ has the worker and a real SMTP server.
import { once } from "node:events";
import { createServer, type AddressInfo, type Server } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { openMailServer, type MailServerOptions } from "../../tests/support/mail-server.ts";
import { MailError, sendMail } from "./mail-server.ts";

/** Replies to the connection, to commands and to the end of the message. "" closes the connection; undefined is silence. */
type Script = Record<"connect" | "EHLO" | "AUTH" | "MAIL" | "RCPT" | "DATA" | "." | "QUIT", string | undefined>;

const fine: Script = {
  connect: "220 ready",
  EHLO: "250-mail.example\r\n250-PIPELINING\r\n250 AUTH PLAIN",
  AUTH: "235 welcome",
  MAIL: "250 ok",
  RCPT: "250 ok",
  DATA: "354 go on",
  ".": "250 taken",
  QUIT: "221 bye",
};

let server: Server | undefined;

afterEach(() => void server?.close());

async function send(changes: Partial<Script>): Promise<void> {
  const script = { ...fine, ...changes };
  server = createServer((socket) => {
    const reply = (step: keyof Script) => {
      const text = script[step];
      if (text === "") socket.destroy();
      else if (text !== undefined) socket.write(text.endsWith("…") ? text.slice(0, -1) : `${text}\r\n`);
      if (text?.endsWith("…")) socket.end();
    };
    let inBody = false;
    let line = "";
    socket.on("error", () => undefined);
    socket.setEncoding("utf8").on("data", (text: string) => {
      const lines = (line + text).split("\r\n");
      line = lines.pop() ?? "";
      for (const command of lines) {
        if (inBody && command !== ".") continue;
        const verb = command.split(" ")[0] as keyof Script;
        inBody = verb === "DATA" && (script.DATA?.startsWith("3") ?? false);
        if (verb in script) reply(verb);
      }
    });
    reply("connect");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const to = { name: "", address: "ada@example.com" };
  await sendMail({ url, client: "perennial.example" }, { from: "a@perennial.example", to, text: "Hello" });
}

it("sendMail resolves when the server has taken the message", async () => {
  await expect(send({})).resolves.toBeUndefined();
});

const withoutPipelining = "250-mail.example\r\n250 SIZE";
const noMailbox = "550 5.1.1 <ada@example.com> is unknown";

type Outcome = "refused" | "not sent" | "may have arrived";

async function outcomeOf(changes: Partial<Script>): Promise<{ outcome: Outcome; message: string }> {
  const error = (await send(changes).catch((thrown: unknown) => thrown)) as MailError;
  expect(error).toBeInstanceOf(MailError);
  const outcome = error.isRefusal ? "refused" : error.mayHaveArrived ? "may have arrived" : "not sent";
  return { outcome, message: error.message };
}

describe("a message is refused, not sent, or may have arrived after", () => {
  it.each<[string, Partial<Script>, Outcome, string]>([
    ["554 to the connection", { connect: "554 go away" }, "not sent", "554"],
    ["421 to EHLO", { EHLO: "421 4.3.2 closing" }, "not sent", "421 4.3.2 to EHLO"],
    ["550 to MAIL FROM", { MAIL: "550 5.7.1 no" }, "not sent", "550 5.7.1 to MAIL FROM"],
    ["451 to MAIL FROM", { MAIL: "451 4.3.0 later" }, "not sent", "451 4.3.0 to MAIL FROM"],
    ["550 to RCPT TO", { RCPT: noMailbox, DATA: "554 no recipients" }, "refused", "550 5.1.1 to RCPT TO"],
    [
      "550 to RCPT TO without pipelining",
      { EHLO: withoutPipelining, RCPT: noMailbox },
      "refused",
      "550 5.1.1 to RCPT TO",
    ],
    ["550 to RCPT TO and takes DATA", { RCPT: noMailbox, ".": "554 no recipients" }, "refused", "550 5.1.1 to RCPT TO"],
    [
      "several lines to RCPT TO",
      { RCPT: "550-5.1.1 unknown\r\n550 5.1.1 gone", DATA: "554 no" },
      "refused",
      "550 5.1.1 to RCPT TO",
    ],
    ["450 to RCPT TO", { RCPT: "450 4.2.0 greylisted", DATA: "554 no" }, "not sent", "450 4.2.0 to RCPT TO"],
    ["421 to RCPT TO", { RCPT: "421 4.7.0 slow down" }, "not sent", "421 4.7.0"],
    ["451 to DATA", { DATA: "451 4.3.0 later" }, "not sent", "451 4.3.0 to DATA"],
    ["554 to DATA", { DATA: "554 5.6.0 no" }, "refused", "554 5.6.0 to DATA"],
    ["452 to the message", { ".": "452 4.2.2 full" }, "not sent", "452 4.2.2 to DATA"],
    ["554 to the message", { ".": "554 5.7.1 spam of ada@example.com" }, "refused", "554 5.7.1 to DATA"],
    ["421 to the message", { ".": "421 4.4.2 closing" }, "not sent", "421 4.4.2 to DATA"],
    ["nonsense to the message", { ".": "ada@example.com?" }, "may have arrived", "EMESSAGE"],
    ["half a line to the message", { ".": "451 4.3.0 lat…" }, "may have arrived", "451 4.3.0"],
  ])("%s", async (_, changes, outcome, code) => {
    expect(await outcomeOf(changes)).toEqual({ outcome, message: `Mail server error: ${code}` });
  });

  it.each<[string, Partial<Script>, Outcome]>([
    ["before the greeting", { connect: "" }, "not sent"],
    ["after MAIL FROM", { EHLO: withoutPipelining, MAIL: "" }, "not sent"],
    ["after RCPT TO", { RCPT: "" }, "not sent"],
    ["after DATA", { DATA: "" }, "not sent"],
    ["after the message", { ".": "" }, "may have arrived"],
  ])("a connection that ends %s", async (_, changes, outcome) => {
    expect(await outcomeOf(changes)).toMatchObject({ outcome });
  });
});

it("sendMail names the error of the operating system", async () => {
  const mail = { from: "a@b.example", to: { name: "", address: "ada@example.com" } };
  const sending = sendMail({ url: "smtp://127.0.0.1:1", client: "perennial.example" }, mail);
  await expect(sending).rejects.toMatchObject({ code: "ECONNREFUSED", mayHaveArrived: false });
});

describe("neither a mail nor a password is sent", () => {
  const login = { user: "ada@perennial.example", password: "p@ss:w/ö rd%" };
  const mail = { from: "a@b.example", to: { name: "", address: "ada@example.com" } };

  async function failWith(options: MailServerOptions): Promise<string> {
    const receiver = await openMailServer(options);
    const sending = sendMail({ url: receiver.url, client: "perennial.example" }, mail);
    const error = (await sending.catch((thrown: unknown) => thrown)) as MailError;
    await receiver.close();
    expect(receiver.recipients).toEqual([]);
    return error.message;
  }

  it("if a login would travel unencrypted", async () => {
    expect(await failWith({ login })).toMatch(/^Mail server error: (500|502).* to STARTTLS$/);
  });

  it.each(["TLS", "STARTTLS"] as const)("with %s and a certificate that is not trusted", async (encryption) => {
    expect(await failWith({ encryption, login })).toBe("Mail server error: DEPTH_ZERO_SELF_SIGNED_CERT");
  });
});
