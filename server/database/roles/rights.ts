// The rights of each role on the site's own tables.

export interface Right {
  /** With its schema; "*" stands for every table and view of the schema. */
  table: `${string}.${string}`;
  privilege: "SELECT" | "INSERT" | "UPDATE" | "DELETE";
  /** Undefined: the right is on the whole table. */
  column?: string;
}

const waitlist = "public.earlyaccess";

/** No SELECT: a compromised web process cannot read the list. */
export const webRights: Right[] = [{ table: waitlist, privilege: "INSERT" }];

export const adminRights: Right[] = [
  { table: waitlist, privilege: "SELECT" },
  { table: waitlist, privilege: "DELETE" },
  { table: waitlist, privilege: "UPDATE", column: "status" },
  { table: "public.earlyaccess_status_changes", privilege: "SELECT" },
];

/** What a notification contains, and the flags that suppress one: neither name nor address. */
const senderColumns =
  "id company created_at utm_source utm_medium utm_campaign utm_term utm_content referrer_host suspected_spam disposable_email unusual_volume";

export const senderRights: Right[] = [
  ...senderColumns.split(" ").map((column): Right => ({ table: waitlist, privilege: "SELECT", column })),
  { table: "graphile_worker.*", privilege: "SELECT" },
  { table: "graphile_worker.*", privilege: "INSERT" },
  { table: "graphile_worker.*", privilege: "UPDATE" },
  { table: "graphile_worker.*", privilege: "DELETE" },
];
