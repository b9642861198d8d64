// The doctor's check of the mail server: whether it can be reached and accepts the login.
import type { Config } from "../../../config/config.ts";
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
    const text = `${error.message} (${host}). Mails wait. Start it or correct SMTP_URL.`;
    return { verdict: "problem", what, text };
  }
}
