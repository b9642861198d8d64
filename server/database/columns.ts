// The columns of a sign-up, named once: INSERT, rights, export and import follow from them.
import { fields } from "../../client/shared/fields.ts";

export const fieldColumns = fields.map(({ name }) => name);

export const campaignColumns = ["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"] as const;

export const sourceColumns = [...campaignColumns, "referrer_host"] as const;

/** The columns of an entry; Postgres has defaults for the others. */
export const entryColumns = ["id", ...fieldColumns, "suspected_spam", ...sourceColumns].join(", ");

export const signUpColumns = `${entryColumns}, notice_id, token_hash`;
