// Brings a database up to date: Prisma's migrations, then the roles and their rights, then the outbox of notices.
import pg from "pg";
import { OperatorError } from "../operator-error.ts";
import { isUpToDate, mayMigrate, requireWaitlist } from "./migration-state.ts";
import { setUpOutbox } from "./outbox.ts";
import { webRights } from "./rights.ts";
import { readRole, restrictedRole, setUpRole, type DatabaseUrls } from "./roles.ts";
import { examineOtherRoles, listAdminRoles, senderRole } from "./site-roles.ts";
import { applyMigrations } from "./schema-engine.ts";
import { examineWebRole, refusePrivilegedRole, type RoleFinding } from "./role-findings.ts";

export type { DatabaseUrls } from "./roles.ts";

export interface MigrationResult {
  applied: string[];
  /** The statements that gave each role the rights it needs. */
  rights: string[];
  /** "restricted" is intended. "privileged": a superuser or the owner. "unprivileged": ownerUrl's role may not migrate. */
  webRole: "restricted" | "privileged" | "unprivileged";
  /** Ways in which a role could do more than its rights allow. */
  findings: RoleFinding[];
}

/** Held while migrating, so that of several starts at once one migrates and the others find it done. */
const migrationLock = 4_155_219;
/** In milliseconds. Whoever waits longer for another start, or for a table in use, tries again later. */
const lockTimeout = 5_000;

/**
 * Applies missing migrations, creates the roles that the URLs name, and sets their rights; safe to repeat and to run
 * from several processes at once. If ownerUrl's role may not migrate, it changes nothing ("unprivileged"): the owner migrates elsewhere.
 * @param allowPrivilegedRole false refuses a web role that is a superuser or the owner, before it changes anything.
 * @throws OperatorError if the operator has to act; an Error that names the migration that failed.
 */
export async function migrate(urls: DatabaseUrls, allowPrivilegedRole = true): Promise<MigrationResult> {
  const owner = await connectTo(urls.ownerUrl);
  try {
    await owner.query("SELECT pg_advisory_lock($1)", [migrationLock]);
    const ownerRole = readRole(urls.ownerUrl).name;
    const web = restrictedRole("DATABASE_URL", urls.webUrl, webRights);
    const examine = async () => [
      ...(await examineWebRole(owner, web.name, ownerRole)),
      ...(await examineOtherRoles(owner, urls)),
    ];
    const findings = await examine();
    if (!allowPrivilegedRole) refusePrivilegedRole(findings);
    if (!(await mayMigrate(owner))) {
      await requireWaitlist(owner, ownerRole, findings);
      return { applied: [], rights: [], webRole: "unprivileged", findings };
    }
    const applied = (await isUpToDate(owner)) ? [] : await applyMigrations(urls.ownerUrl);
    const isPrivileged = findings.some(({ severity }) => severity === "privileged");
    const rights = web.name === ownerRole ? [] : await setUpRole(owner, web);
    for (const admin of await listAdminRoles(owner, urls)) rights.push(...(await setUpRole(owner, admin)));
    rights.push(...(await setUpOutbox(owner, urls.ownerUrl, urls.senderUrl ? senderRole(urls.senderUrl) : undefined)));
    return {
      applied,
      rights,
      webRole: isPrivileged ? "privileged" : "restricted",
      // New tables and roles may have got rights by default privileges.
      findings: applied.length + rights.length > 0 ? await examine() : findings,
    };
  } finally {
    await owner.end();
  }
}

/**
 * Waits for no lock longer than 5 s, and for the connection as long. Statements have to name the schema of all but Postgres'
 * own objects: in a schema in which others may create, an overloaded function would run with the owner's rights.
 * @throws OperatorError where Postgres or its certificate is refused on principle; the driver's error where it does not answer.
 */
export async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000, lock_timeout: lockTimeout });
  client.on("error", () => undefined); // The query under way rejects with the same error.
  try {
    await client.connect();
    await client.query("SET search_path = pg_catalog, pg_temp");
  } catch (error) {
    const refusal = describeRefusal(error as { code?: string; message: string }, new URL(url));
    throw refusal ? new OperatorError(refusal) : error;
  }
  return client;
}

/** Returns undefined if the error is transient. */
function describeRefusal({ code = "", message }: { code?: string; message: string }, url: URL): string | undefined {
  const server = `Postgres at ${url.host}`;
  const who = `role ${url.username}, database ${url.pathname.slice(1)}.`;
  if (code === "28P01") return `${server} does not accept this role's password: ${who}`;
  if (code === "3D000") return `${server} has no such database: ${who}`;
  if (code === "28000") {
    const hint = url.searchParams.has("sslmode")
      ? ""
      : " Where it insists on TLS, end its URL with ?sslmode=verify-full.";
    return `${server} does not let this role in: ${who}${hint}`;
  }
  if (message.startsWith("The server does not support SSL")) {
    return `${server} does not speak TLS, which sslmode in its URL asks for.`;
  }
  if (message.includes("unsupported startup parameter")) {
    return `${server} is a pooler that takes no settings of a session (${message}). Name Postgres itself: the site keeps ten connections at most.`;
  }
  if (/CERT|^UNABLE_TO_/.test(code)) {
    return `${server} shows a certificate that is not trusted (${code}). Name the file of its authority: add &sslrootcert=/path/ca.pem to its URL.`;
  }
  return undefined;
}
