// npm run notify: tells NOTIFY_WEBHOOK_URL of each sign-up until it is stopped; in the image node dist/server/notify.js.
import { sendNotices, type Tell } from "../database/notice-sender.ts";
import { createLogger } from "../logger.ts";
import { OperatorError } from "../operator-error.ts";
import { postNotice } from "../webhook.ts";
import { runCommand } from "./command.ts";

await runCommand(async ({ senderUrl }, { notifyWebhookUrl: url, notifyWebhookSecret: secret, logLevel }) => {
  if (!url || !senderUrl) {
    throw new OperatorError(
      "NOTIFY_WEBHOOK_URL is not set, so there is nobody to tell. Set it, for example NOTIFY_WEBHOOK_URL=https://hooks.example/T0/B0/x, and migrate.",
    );
  }
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  const tell: Tell = (notice, signal) => postNotice({ url, secret }, notice, signal);
  await sendNotices(senderUrl, tell, createLogger(logLevel), stop.signal);
});
