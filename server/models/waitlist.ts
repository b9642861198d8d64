// The waitlist: joining it is all that the web process can do.
import type { PrismaClient } from "../database/connect.ts";
import type { WaitlistEntry } from "./waitlist-entry.ts";

export interface Waitlist {
  /**
   * Stores the entry; resolves after the commit. The first entry for an address wins, and a repeat is told the same.
   * @throws WaitlistUnavailableError when it could not be stored.
   */
  join(entry: WaitlistEntry): Promise<void>;
}

export class WaitlistUnavailableError extends Error {
  override name = "WaitlistUnavailableError";
}

export function createWaitlist(prisma: PrismaClient): Waitlist {
  return {
    async join(entry) {
      try {
        // One INSERT … ON CONFLICT DO NOTHING without RETURNING: a role that may not read can run it, and two at once cannot race.
        await prisma.waitlistEntry.createMany({
          data: [entry],
          skipDuplicates: true,
        });
      } catch (cause) {
        throw new WaitlistUnavailableError("The entry could not be stored", {
          cause,
        });
      }
    },
  };
}
