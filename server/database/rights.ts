// The rights of the web role and of admins on the site's own tables.

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
