// The task announce: a webhook notification for each new entry, and for each confirmed one.
import type { Task } from "graphile-worker";
import { isFlagged } from "../models/waitlist-entry.ts";
import { notificationColumns, type AnnouncedEntry } from "./notification.ts";
import { retryAfterOutage, type Work } from "./outage.ts";
import { postNotification, type Webhook } from "./webhook.ts";

/** Jobs from before the column confirmed_at lack `confirmed`. */
interface Payload {
  entry: string;
  confirmed?: boolean;
}

export function announceTask(webhook: Webhook): Task {
  const announce: Work = async (payload, helpers) => {
    const { entry, confirmed = false } = payload as Payload;
    const { rows } = await helpers.query<AnnouncedEntry>(
      `SELECT ${notificationColumns.join(", ")} FROM public.earlyaccess WHERE id = $1 AND NOT ${isFlagged}`,
      [entry],
    );
    if (!rows[0]) return false; // The address was a duplicate, the entry is flagged, or it is erased by now.
    // The trigger adds the job at the time of the confirmation. The worker's role need not read confirmed_at.
    await postNotification(
      webhook,
      { ...rows[0], confirmed_at: confirmed ? helpers.job.created_at : null },
      helpers.abortSignal,
    );
    return true;
  };
  return retryAfterOutage("announce", announce, () => true);
}
