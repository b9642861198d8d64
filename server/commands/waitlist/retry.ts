// waitlist retry: tries the mails and webhooks again that failed, were given up or are missing.
import { Command } from "commander";
import { isQueueEnabled } from "../../database/queue.ts";
import { queueUnsentMails } from "../../models/operators/mail-state.ts";
import { count, print, withOwner } from "../command.ts";
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
      const { rowCount } = await client.query(
        `SELECT graphile_worker.reschedule_jobs(array_agg(id), run_at => now(), attempts => 0)
         FROM graphile_worker.jobs WHERE task_identifier IN ('mail', 'webhook') AND last_error IS NOT NULL`,
      );
      const mails = (await isQueueEnabled(client, "mail")) ? await queueUnsentMails(client, since) : 0;
      print(
        `Failed mails and webhooks that are tried again: ${count(rowCount ?? 0)}. Mails queued: ${count(mails)}.\n`,
      );
    });
  });
