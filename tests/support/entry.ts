// A valid waitlist entry, for tests that only care about some of its columns.
import { readSource } from "../../server/models/source.ts";
import type { WaitlistEntry } from "../../server/models/waitlist-entry.ts";

export const entryOf = (email: string, changes: Partial<WaitlistEntry> = {}): WaitlistEntry => ({
  name: "Ada",
  email,
  company: "Engines",
  job_title: null,
  suspected_spam: false,
  disposable_email: false,
  unusual_volume: false,
  ...readSource({}),
  ...changes,
});
