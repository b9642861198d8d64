// waitlist retry: tries the mails and webhooks again that failed, were given up or are missing.
import { Command } from "commander";
import { isQueueEnabled } from "../../database/queue.ts";
import { queueMissingMails, retryFailedJobs } from "../../models/operators/mail-state.ts";
import { OperatorError } from "../../errors.ts";
import { formatCount, print, withOwner } from "../command.ts";
import { sinceOption } from "./moment.ts";

export const retry = new Command("retry")
  .summary("tries the mails and webhooks again that failed, were given up or are missing")
  .description(
    "Run it when the cause is gone. An address that the mail server refused, as with 550 5.1.1, gets no mail. A mail is " +
      "missing if the sign-up has neither a mail nor a job: since the first mail, or since DATE.",
  )
  .addOption(sinceOption())
  .action(async ({ since }: { since?: string }) => {
    await withOwner(async (client) => {
      const { rows } = await client.query("SELECT to_regnamespace('graphile_worker') IS NOT NULL AS found");
      if (!rows[0].found) {
        throw new OperatorError(
          "No worker was set up for this database, so no mail or webhook waits: see docs/worker.md.",
        );
      }
      const failed = await retryFailedJobs(client);
      const mails = (await isQueueEnabled(client, "mail")) ? await queueMissingMails(client, since) : 0;
      print(
        `Failed mails and webhooks that are tried again: ${formatCount(failed)}. Mails queued: ${formatCount(mails)}.\n`,
      );
    });
  });
