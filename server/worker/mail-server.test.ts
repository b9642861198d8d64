// What a failed step of SMTP means for the message. tests/process/ has the worker and a real SMTP server.
import { expect, it, onTestFinished } from "vitest";
import { openMailServer, type MailServer, type MailServerOptions } from "../../tests/support/mail-server.ts";
import { MailError, sendMail } from "./mail-server.ts";

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

async function failureOf(url: string): Promise<MailError> {
  const error = await send(url).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(MailError);
  return error as MailError;
}

it.each<[...Parameters<MailServer["fail"]>, outcome: string, message: string]>([
  ["connect", "554 go away", "not sent", "554"],
  ["sender", "550 5.7.1 no", "not sent", "550 5.7.1 to MAIL FROM"],
  ["recipient", "550 5.1.1 unknown", "refused", "550 5.1.1 to RCPT TO"],
  ["recipient", "450 4.2.0 greylisted", "not sent", "450 4.2.0 to RCPT TO"],
  ["recipient", "drop", "not sent", "ECONNECTION"],
  ["data", "452 4.2.2 full", "not sent", "452 4.2.2 to DATA"],
  ["data", "554 5.7.1 spam of ada@example.com", "refused", "554 5.7.1 to DATA"],
  ["data", "drop", "may have arrived", "ECONNECTION"],
])("a mail after a failure at the step %s with “%s” is: %s", async (step, reply, outcome, message) => {
  const server = await open();
  server.fail(step, reply);
  const error = await failureOf(server.url);
  expect(error.isRefusal ? "refused" : error.mayHaveArrived ? "may have arrived" : "not sent").toBe(outcome);
  expect(error.message).toBe(`Mail server error: ${message}`);
});

const login = { user: "ada@perennial.example", password: "p@ss:w/ö rd%" };

it.each<[behaviour: string, options: MailServerOptions, message: RegExp]>([
  ["if a login would travel unencrypted", { login }, /^Mail server error: (500|502).* to STARTTLS$/],
  ["with TLS and an untrusted certificate", { login, encryption: "TLS" }, /DEPTH_ZERO_SELF_SIGNED_CERT/],
  ["with STARTTLS and an untrusted certificate", { login, encryption: "STARTTLS" }, /DEPTH_ZERO_SELF_SIGNED_CERT/],
])("the worker sends neither a mail nor a password %s", async (_, options, message) => {
  const server = await open(options);
  expect((await failureOf(server.url)).message).toMatch(message);
  expect(server.recipients).toEqual([]);
});
