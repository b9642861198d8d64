// The rights of each role on the site's own tables and functions.

export interface Right {
  /** With its schema; "*" stands for every table and view of the schema. A function is named without parameters. */
  target: `${string}.${string}`;
  privilege: "SELECT" | "INSERT" | "UPDATE" | "DELETE" | "EXECUTE";
  /** Undefined: the right is on the whole table. */
  column?: string;
}

const waitlist = "public.earlyaccess";

const onColumns = (privilege: Right["privilege"], columns: string, target: Right["target"] = waitlist): Right[] =>
  columns.split(" ").map((column) => ({ target, privilege, column }));

const flags = "suspected_spam disposable_email unusual_volume";
const source = "utm_source utm_medium utm_campaign utm_term utm_content referrer_host";

/** No SELECT: a compromised web process cannot read the list. The functions return nothing about an entry without the token of its mail, and no column says that an entry was confirmed. */
export const webRights: Right[] = [
  ...onColumns("INSERT", `id name email company job_title ${flags} ${source} notice_id token_hash`),
  ...onColumns("INSERT", "id text", "public.earlyaccess_notices"),
  { target: "public.earlyaccess_views", privilege: "INSERT" },
  { target: "public.earlyaccess_confirm", privilege: "EXECUTE" },
  { target: "public.earlyaccess_leave", privilege: "EXECUTE" },
];

export const adminRights: Right[] = [
  { target: waitlist, privilege: "SELECT" },
  { target: waitlist, privilege: "DELETE" },
  { target: waitlist, privilege: "UPDATE", column: "status" },
  { target: waitlist, privilege: "UPDATE", column: "batch" },
  { target: "public.earlyaccess_status_changes", privilege: "SELECT" },
  { target: "public.earlyaccess_imports", privilege: "SELECT" },
  { target: "public.earlyaccess_notices", privilege: "SELECT" },
];

/** The worker's tasks, under the names that their jobs have in the queue. */
export const workerTasks = ["announce", "mail", "purge"] as const;
export type WorkerTask = (typeof workerTasks)[number];

const onTables = (target: Right["target"], ...privileges: Right["privilege"][]): Right[] =>
  privileges.map((privilege) => ({ target, privilege }));

const taskRights: Record<WorkerTask, Right[]> = {
  /** What a notification contains, and the flags that suppress one: neither name nor address. */
  announce: onColumns("SELECT", `id company created_at ${source} ${flags}`),
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
