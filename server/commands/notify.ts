// npm run notify: sends a webhook notification for each sign-up until it is stopped; in the image node dist/server/notify.js.
import { createLogger } from "../logger.ts";
import { OperatorError } from "../operator-messages.ts";
import { postNotification } from "../outbox/webhook.ts";
import { sendNotifications } from "../outbox/worker.ts";
import { runCommand } from "./command.ts";

await runCommand(async ({ senderUrl }, { notifyWebhookUrl: url, notifyWebhookSecret: secret, logLevel }) => {
  if (!url || !senderUrl) {
    throw new OperatorError(
      "NOTIFY_WEBHOOK_URL is not set, so notify has no receiver. Set it, for example NOTIFY_WEBHOOK_URL=https://hooks.example/T0/B0/x, and migrate.",
    );
  }
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  const log = createLogger(logLevel);
  await sendNotifications(
    senderUrl,
    (notification, signal) => postNotification({ url, secret }, notification, signal),
    log,
    stop.signal,
  );
});
