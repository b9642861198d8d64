// A valid waitlist entry, for tests that only care about some of its columns.
import { fields, type FieldName } from "../../client/shared/fields.ts";
import { readSource } from "../../server/models/source.ts";
import type { WaitlistEntry } from "../../server/models/waitlist-entry.ts";

export const entryOf = (email: string, changes: Partial<WaitlistEntry> = {}): WaitlistEntry => ({
  ...(Object.fromEntries(fields.map(({ name }) => [name, null])) as Record<FieldName, null>),
  name: "Ada",
  email,
  company: "Engines",
  suspected_spam: false,
  disposable_email: false,
  unusual_volume: false,
  ...readSource({}),
  ...changes,
});
