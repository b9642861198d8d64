// Brings a database up to date: the tables by Prisma's migrations, then the web role's rights and the outbox of notices.
import { createHash } from "node:crypto";
import pg from "pg";
import { OperatorError } from "../operator-error.ts";
import { setUpOutbox } from "./outbox.ts";
import { readRole, restrictWebRole } from "./roles.ts";
import { applyMigrations, readMigrations } from "./schema-engine.ts";

export interface DatabaseUrls {
  ownerUrl: string;
  webUrl: string;
  /** Of the process that sends notices; undefined where nobody is to be told of sign-ups. */
  senderUrl?: string;
}

export interface MigrationResult {
  applied: string[];
  /** What was changed to leave each role with what it needs, and the web role with INSERT alone. */
  rights: string[];
  /** Restricted is what is meant to be; the web process works with either. */
  webRole: "restricted" | "owner" | "unprivileged";
}

/** Held while migrating, so that of several starts at once one migrates and the others find it done. */
const migrationLock = 4_155_219;
/** In milliseconds. Whoever waits longer for another start, or for a table in use, tries again later. */
const lockTimeout = 5_000;

/**
 * Applies what is missing and sets up the web role; safe to repeat and to run from several processes at once.
 * Given only the web role's own connection it changes nothing ("unprivileged"): the owner migrates elsewhere.
 * @throws OperatorError where somebody has to help; an Error naming the migration that failed.
 */
export async function migrate({ ownerUrl, webUrl, senderUrl }: DatabaseUrls): Promise<MigrationResult> {
  const owner = await connectTo(ownerUrl);
  try {
    await owner.query("SELECT pg_advisory_lock($1)", [migrationLock]);
    if (!(await mayMigrate(owner))) return { applied: [], rights: [], webRole: "unprivileged" };
    const applied = (await isUpToDate(owner)) ? [] : await applyMigrations(ownerUrl);
    const outbox = await setUpOutbox(owner, ownerUrl, senderUrl);
    const web = readRole(webUrl);
    const { rows } = await owner.query("SELECT current_user = $1 AS same", [web.name]);
    if (rows[0].same) return { applied, rights: outbox, webRole: "owner" };
    const rights = await restrictWebRole(owner, web);
    return { applied, rights: [...outbox, ...rights], webRole: "restricted" };
  } finally {
    await owner.end();
  }
}

/**
 * Waits for no lock longer than 5 s, and for the connection as long.
 * @throws OperatorError where Postgres or its certificate is refused on principle; the driver's error where it does not answer.
 */
export async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000, lock_timeout: lockTimeout });
  client.on("error", () => undefined); // The query under way rejects with the same error.
  try {
    await client.connect();
  } catch (error) {
    const refusal = describeRefusal(error as { code?: string; message: string }, new URL(url));
    throw refusal ? new OperatorError(refusal) : error;
  }
  return client;
}

/** Undefined for what may pass. */
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

/** Nearly every start finds nothing to do; to see that by the engine's own bookkeeping spares loading the engine, 0.1 s. */
export async function isUpToDate(owner: pg.Client): Promise<boolean> {
  const { rows: tables } = await owner.query("SELECT to_regclass('public._prisma_migrations') IS NOT NULL AS there");
  if (!tables[0].there) return false;
  const { rows } = await owner.query<{ migration_name: string; checksum: string; done: boolean }>(
    "SELECT migration_name, checksum, finished_at IS NOT NULL AS done FROM public._prisma_migrations WHERE rolled_back_at IS NULL",
  );
  const wanted = (await readMigrations()).map(({ name, sql }) => `${name} ${sha256(sql)}`);
  const found = new Set(rows.map(({ migration_name, checksum }) => `${migration_name} ${checksum}`));
  return rows.every(({ done }) => done) && wanted.every((migration) => found.has(migration));
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

async function mayMigrate(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query(
    `SELECT current_user AS role, c.oid IS NOT NULL AS migrated,
            CASE WHEN c.oid IS NULL THEN has_schema_privilege('public', 'CREATE')
                 ELSE pg_has_role(c.relowner, 'USAGE') END AS may
     FROM (SELECT to_regclass('public.earlyaccess') AS oid) t LEFT JOIN pg_class c ON c.oid = t.oid`,
  );
  const { role, migrated, may } = rows[0] as { role: string; migrated: boolean; may: boolean };
  if (!migrated && !may) {
    throw new OperatorError(
      `The table earlyaccess does not exist and "${role}" may not make it. Run the migrations with the owner's connection in DATABASE_OWNER_URL.`,
    );
  }
  return may;
}
