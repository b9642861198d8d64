// The rights of each role on the site's own tables and functions.

export interface Right {
  /** With its schema; "*" stands for every table and view of the schema. A function is named without parameters. */
  target: `${string}.${string}`;
  privilege: "SELECT" | "INSERT" | "UPDATE" | "DELETE" | "EXECUTE";
  /** Undefined: the right is on the whole table. */
  column?: string;
}

const waitlist = "public.earlyaccess";

/** No SELECT: a compromised web process cannot read the list. The functions return nothing. */
export const webRights: Right[] = [
  { target: waitlist, privilege: "INSERT" },
  { target: "public.earlyaccess_notices", privilege: "INSERT" },
  { target: "public.earlyaccess_views", privilege: "INSERT" },
  { target: "public.earlyaccess_confirm", privilege: "EXECUTE" },
  { target: "public.earlyaccess_leave", privilege: "EXECUTE" },
];

export const adminRights: Right[] = [
  { target: waitlist, privilege: "SELECT" },
  { target: waitlist, privilege: "DELETE" },
  { target: waitlist, privilege: "UPDATE", column: "status" },
  { target: "public.earlyaccess_status_changes", privilege: "SELECT" },
];

/** The worker's tasks, under the names that their jobs have in the queue. */
export const workerTasks = ["announce", "mail", "purge"] as const;
export type WorkerTask = (typeof workerTasks)[number];

const onColumns = (privilege: Right["privilege"], columns: string): Right[] =>
  columns.split(" ").map((column) => ({ target: waitlist, privilege, column }));

const onTables = (target: Right["target"], ...privileges: Right["privilege"][]): Right[] =>
  privileges.map((privilege) => ({ target, privilege }));

const flags = "suspected_spam disposable_email unusual_volume";

const taskRights: Record<WorkerTask, Right[]> = {
  /** What a notification contains, and the flags that suppress one: neither name nor address. */
  announce: onColumns(
    "SELECT",
    `id company created_at utm_source utm_medium utm_campaign utm_term utm_content referrer_host ${flags}`,
  ),
  mail: [
    ...onColumns("SELECT", `id email mailed_at mail_refusal confirmed_at ${flags}`),
    ...onColumns("UPDATE", "token_hash erasure_hash mailed_at mail_refusal"),
    ...onTables("earlyaccess_erasures.*", "SELECT"),
  ],
  purge: [
    ...onColumns("SELECT", "id email created_at"),
    ...onTables(waitlist, "DELETE"),
    ...onTables("earlyaccess_erasures.*", "SELECT", "INSERT", "UPDATE"),
  ],
};

/** Returns the rights that these tasks need, and the queue. */
export function workerRights(tasks: WorkerTask[]): Right[] {
  const rights = tasks.flatMap((task) => taskRights[task]);
  return [...rights, ...onTables("graphile_worker.*", "SELECT", "INSERT", "UPDATE", "DELETE")];
}
