// What a failed step of SMTP means for the message. tests/process/ has the worker and a real SMTP server.
import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import tls from "node:tls";
import { expect, it, onTestFinished, vi } from "vitest";
import { openMailServer, type MailServer, type MailServerOptions, type Step } from "../../tests/support/mail-server.ts";
import { until, within } from "../../tests/support/run.ts";
import { MailError, mailTimeouts, sendMail, verifyMailServer } from "./mail-server.ts";

const send = (url: string) =>
  sendMail(
    { url, client: "perennial.example" },
    { from: "a@perennial.example", to: { name: "", address: "ada@example.com" }, text: "Hello" },
  );

async function open(options?: MailServerOptions): Promise<MailServer> {
  const server = await openMailServer(options);
  onTestFinished(() => server.close());
  return server;
}

async function openRaw(onConnection: (socket: net.Socket) => void): Promise<string> {
  const server = net.createServer(onConnection);
  onTestFinished(() => void server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function failureOf(url: string): Promise<MailError> {
  const error = await send(url).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(MailError);
  return error as MailError;
}

it("no step of SMTP holds up the other mails for more than 30 s", async () => {
  const steps = ["dnsTimeout", "connectionTimeout", "greetingTimeout", "socketTimeout"];
  expect(Object.keys(mailTimeouts).toSorted()).toEqual(steps.toSorted());
  expect(Object.values(mailTimeouts).filter((ms) => ms < 10_000 || ms > 30_000)).toEqual([]);
  vi.spyOn(mailTimeouts, "socketTimeout", "get").mockReturnValue(50);
  const server = await open();
  server.fail("sender", "hang");
  let failure: MailError | undefined;
  void failureOf(server.url).then((error) => (failure = error));
  expect(await until("the worker gives up the silent server", () => failure, 10)).toHaveProperty(
    "code",
    "SOCKET_TIMEOUT",
  );
});

it("a message ends, whatever the server does: also one that sends a byte now and then", async () => {
  const limit = AbortSignal.timeout.bind(AbortSignal);
  vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => limit(ms === 5 * 60_000 ? 1_000 : 3_600_000));
  vi.spyOn(mailTimeouts, "socketTimeout", "get").mockReturnValue(500);
  const url = await openRaw((socket) => {
    socket.on("error", () => undefined).write("220 slow\r\n");
    socket.once("data", () => {
      const dripping = setInterval(() => socket.write("2"), 100);
      socket.once("close", () => clearInterval(dripping));
    });
  });
  const timeout = { code: "MESSAGE_TIMEOUT", mayHaveArrived: false };
  expect(await within("the end of the message", failureOf(url), 10)).toMatchObject(timeout);
  const verifying = verifyMailServer({ url, client: "perennial.example" }).catch((error: unknown) => error);
  expect(await within("the end of doctor's check", verifying, 10)).toMatchObject(timeout);
});

it("a reply reaches the log and the database without control characters", async () => {
  const url = await openRaw((socket) => socket.end("554 a\0b \u001B[31m \u009B\u202E\r\n"));
  expect((await failureOf(url)).message).toBe("Mail server error: 554 a?b ?[31m ??");
});

it.each([
  ["smtp://[::1]", net, { host: "::1", port: 587 }],
  ["smtps://127.0.0.1", tls, { host: "127.0.0.1", port: 465 }],
])("a mail to %s goes to the usual port", async (url, protocol, expected) => {
  const connect = vi.spyOn(protocol, "connect");
  await failureOf(url);
  expect(connect.mock.calls[0]?.[0]).toMatchObject(expected);
});

it.each<[step: Step, reply: string, outcome: string, message: string]>([
  ["connect", "554 go away", "not sent", ": 554 go away <undefined>"],
  ["sender", "550 5.1.1 no", "not sent", " (MAIL FROM): 550 5.1.1 no <undefined>"],
  ["recipient", "550 5.1.1 unknown", "550 5.1.1", " (RCPT TO): 550 5.1.1 unknown …"],
  ["recipient", "550 5.1.2 no domain", "550 5.1.2", " (RCPT TO): 550 5.1.2 no domain …"],
  ["recipient", "501 5.1.3 bad syntax", "501 5.1.3", " (RCPT TO): 501 5.1.3 bad syntax …"],
  ["recipient", "551 5.1.6 moved", "551 5.1.6", " (RCPT TO): 551 5.1.6 moved …"],
  ["recipient", "550 5.1.10 null MX of example.com", "550 5.1.10", " (RCPT TO): 550 5.1.10 null MX of … …"],
  ["recipient", "550 no ada here", "550 to RCPT TO", " (RCPT TO): 550 no … here …"],
  ["recipient", "551 moved", "551 to RCPT TO", " (RCPT TO): 551 moved …"],
  ["recipient", "553 no adamant", "553 to RCPT TO", " (RCPT TO): 553 no adamant …"],
  ["recipient", "554 no", "not sent", " (RCPT TO): 554 no …"],
  ["recipient", "550 5.7.1 Relay\n5.7.1 denied", "not sent", " (RCPT TO): 550-5.7.1 Relay 550 5.7.1 denied …"],
  ["recipient", "550 5.1.8 Access denied, bad sender", "not sent", " (RCPT TO): 550 5.1.8 Access denied, bad sender …"],
  ["recipient", "450 4.2.0 greylisted", "not sent", " (RCPT TO): 450 4.2.0 greylisted …"],
  ["recipient", "450 4.1.1 not verified", "not sent", " (RCPT TO): 450 4.1.1 not verified …"],
  ["recipient", "450 4.1.2 domain not found", "not sent", " (RCPT TO): 450 4.1.2 domain not found …"],
  ["recipient", "450 4.2.1 over rate", "not sent", " (RCPT TO): 450 4.2.1 over rate …"],
  ["recipient", "452 4.2.2 full", "not sent", " (RCPT TO): 452 4.2.2 full …"],
  ["recipient", "552 5.2.2 full", "not sent", " (RCPT TO): 552 5.2.2 full …"],
  ["recipient", "550 5.2.1 disabled", "550 5.2.1", " (RCPT TO): 550 5.2.1 disabled …"],
  ["recipient", "550 5.2.0 blocked", "not sent", " (RCPT TO): 550 5.2.0 blocked …"],
  ["recipient", "452 4.2.20 no such code", "not sent", " (RCPT TO): 452 4.2.20 no such code …"],
  ["recipient", "452 full", "not sent", " (RCPT TO): 452 full …"],
  ["sender", "452 4.2.2 your quota", "not sent", " (MAIL FROM): 452 4.2.2 your quota <undefined>"],
  ["recipient", "421 4.7.0 too many", "not sent", ": 421 4.7.0 too many …"],
  ["recipient", "drop", "not sent", ": ECONNECTION"],
  ["data", "550 5.1.1 unknown", "550 5.1.1", " (DATA): 550 5.1.1 unknown …"],
  ["data", "552 5.2.2 full", "not sent", " (DATA): 552 5.2.2 full …"],
  ["data", "554 5.2.0 send as denied", "not sent", " (DATA): 554 5.2.0 send as denied …"],
  ["data", "421 4.7.0 too many", "not sent", " (DATA): 421 4.7.0 too many …"],
  ["data", "550 no", "not sent", " (DATA): 550 no …"],
  ["data", "554 5.7.1 spam of ada@example.com", "not sent", " (DATA): 554 5.7.1 spam of … …"],
  ["data", "drop", "may have arrived", ": ECONNECTION"],
])("a mail after a failure at the step %s with “%s” is: %s", async (step, reply, outcome, message) => {
  const server = await open();
  server.fail(step, reply);
  const error = await failureOf(server.url);
  expect(error.refusal ?? (error.mayHaveArrived ? "may have arrived" : "not sent")).toBe(outcome);
  expect(error.message).toBe(`Mail server error${message}`);
});

const login = { user: "ada@perennial.example", password: "p@ss:w/ö rd%" };

it.each<[behaviour: string, options: MailServerOptions, message: RegExp]>([
  ["if a login would travel unencrypted", { login }, /^Mail server error \(STARTTLS\): (500|502)/],
  ["with TLS, without a login, and an untrusted certificate", { encryption: "TLS" }, /DEPTH_ZERO_SELF_SIGNED_CERT/],
  ["with TLS and an untrusted certificate", { login, encryption: "TLS" }, /DEPTH_ZERO_SELF_SIGNED_CERT/],
  ["with STARTTLS and an untrusted certificate", { login, encryption: "STARTTLS" }, /DEPTH_ZERO_SELF_SIGNED_CERT/],
])("the worker sends neither a mail nor a password %s", async (_, options, message) => {
  const server = await open(options);
  expect((await failureOf(server.url)).message).toMatch(message);
  expect(server.recipients).toEqual([]);
});

it("a relay without a login gets mails with STARTTLS, whatever its certificate", async () => {
  const server = await open({ encryption: "STARTTLS" });
  await send(server.url);
  expect(server.recipients).toEqual(["ada@example.com"]);
});
