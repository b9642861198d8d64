// The doctor's check of the mail server: whether it can be reached and accepts the login.
import type { Config } from "../../../config.ts";
import type { Finding } from "./finding.ts";

const what = "Mail server";

/** Connects for at most 30 s, and sends no mail. */
export async function examineMailServer({ smtpUrl, publicUrl = "" }: Config): Promise<Finding> {
  if (!smtpUrl)
    return { verdict: "ok", what, text: "not examined: SMTP_URL is not set here, and only the worker needs it" };
  const { MailError, verifyMailServer } = await import("../../../outbox/mail-server.ts"); // nodemailer, which most sites do not need.
  const { host } = new URL(smtpUrl);
  try {
    await verifyMailServer({ url: smtpUrl, client: new URL(publicUrl).hostname });
    return { verdict: "ok", what, text: `accepts connections at ${host}` };
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    const text = `${error.message} (${host}). Mails wait. ${describeRemedy(error.code)}`;
    return { verdict: "problem", what, text };
  }
}

/** @param code of a MailError: a reply code, or the code of an error of the system or of TLS. */
function describeRemedy(code: string): string {
  if (code.startsWith("535")) return "Correct user and password in SMTP_URL.";
  if (/CERT|^UNABLE_TO_/.test(code)) return "Set NODE_EXTRA_CA_CERTS=/path/ca.pem if its authority is your own.";
  if (/^50\d/.test(code)) return "It may offer no STARTTLS: use smtps://, or omit user and password.";
  return "Start it, or correct host and port in SMTP_URL.";
}
