// Database URLs: their syntax, what a program makes of them and, in production, their passwords.
import { z } from "zod";
import { isDecodable } from "./rules.ts";

/** The word for the role of each URL, as in the name perennial_web and in WEB_PASSWORD, its password in .env of docker compose. */
const roles = {
  DATABASE_URL: "web",
  DATABASE_OWNER_URL: "owner",
  DATABASE_ADMIN_URL: "admin",
  WORKER_DATABASE_URL: "worker",
} as const;
export type DatabaseUrlName = keyof typeof roles;
export const databaseUrlNames = Object.keys(roles) as DatabaseUrlName[];

const composeVariable = (name: DatabaseUrlName) => `${roles[name].toUpperCase()}_PASSWORD`;

export const exampleUrl = (name: DatabaseUrlName) =>
  `postgresql://perennial_${roles[name]}:secret@db.example:5432/perennial`;

/**
 * node-postgres verifies the certificate in each of these modes, but warns at each start that a later version will not:
 * https://www.npmjs.com/package/pg-connection-string
 */
const unverified = /([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/;

export const postgresUrl = (name: DatabaseUrlName) =>
  z
    .string()
    .refine(
      isPostgresUrl,
      `a Postgres URL with user and database, special characters in the password percent-encoded (docker compose: ${composeVariable(name)} with letters, digits, - and _ only)`,
    )
    .transform((text) => (text.includes("uselibpqcompat=true") ? text : text.replace(unverified, "$1verify-full")));

function isPostgresUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, pathname } = new URL(text);
  return (
    /^postgres(ql)?:$/.test(protocol) &&
    username !== "" &&
    pathname.length > 1 &&
    isDecodable(`${username}:${password}${pathname}`)
  );
}

/** In characters. NIST SP 800-63B-4, section 3.1.1.2, requires it of a password that is the only factor. */
const minPasswordLength = 15;

type Values = Partial<Record<DatabaseUrlName, string | undefined>> &
  Partial<Record<"WEBHOOK_URL" | "MAIL_FROM" | "RETENTION_MONTHS" | "UNCONFIRMED_DAYS", unknown>>;

/** The worker's tasks that settings enable, under the names that their jobs have in the queue. With mail come mailings. */
export const workerTasks = ["webhook", "mail", "purge"] as const;
export type WorkerTask = (typeof workerTasks)[number];

export interface DatabaseSettings {
  ownerUrl: string;
  webUrl: string;
  adminUrl?: string | undefined;
  worker?: { url: string; tasks: WorkerTask[] } | undefined;
}

export function readRole(url: string): { name: string; password: string } {
  const { username, password } = new URL(url);
  return { name: decodeURIComponent(username), password: decodeURIComponent(password) };
}

export function readDatabase(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1));
}

/** Returns host and database of a URL, which a message may name. */
export function databaseOf(url: string): string {
  const { host, pathname } = new URL(url);
  return host + pathname;
}

/** Returns a sentence for each password that production refuses. @param values the settings that are valid on their own. */
export function checkPasswords(values: Values): string[] {
  const logins = listLogins(values);
  return [...findShort(logins), ...findShared(logins)];
}

interface Login {
  name: string;
  password: string;
  variable: DatabaseUrlName;
  inCompose: string;
}

/** Without a password, a certificate or a provider's proxy authenticates the role. */
function listLogins(values: Values): Login[] {
  const hasWorker = values.WEBHOOK_URL || values.MAIL_FROM || values.RETENTION_MONTHS || values.UNCONFIRMED_DAYS;
  const used = databaseUrlNames.filter((variable) => variable !== "WORKER_DATABASE_URL" || hasWorker);
  const logins = used.flatMap((variable) => {
    const url = values[variable];
    return url ? Object.assign(readRole(url), { variable, inCompose: composeVariable(variable) }) : [];
  });
  return logins.filter(({ password }) => password !== "");
}

const advice = "make one with: openssl rand -hex 24";

function findShort(logins: Login[]): string[] {
  const short = logins.filter(({ password }) => Array.from(password).length < minPasswordLength);
  return short.map(
    ({ variable, inCompose }) =>
      `${variable} has a password shorter than ${minPasswordLength} characters (docker compose: ${inCompose}); ${advice}`,
  );
}

function findShared(logins: Login[]): string[] {
  const passwords = new Set(logins.map(({ password }) => password));
  return Array.from(passwords).flatMap((password) => {
    const users = logins.filter((login) => login.password === password);
    if (new Set(users.map(({ name }) => name)).size < 2) return [];
    const variables = users.map(({ variable }) => variable).join(" and ");
    const inCompose = users.map((user) => user.inCompose).join(" and ");
    return `${variables} have the same password for different roles (docker compose: ${inCompose}); for each role ${advice}`;
  });
}
