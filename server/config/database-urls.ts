// Database URLs: their syntax, which of them belong together, their roles, and in production their passwords.
import { z } from "zod";
import { isDecodable } from "../errors.ts";

/** The word for the role of each URL, as in the name perennial_web and in WEB_PASSWORD, its password in .env of docker compose. */
const roles = {
  DATABASE_URL: "web",
  DATABASE_OWNER_URL: "owner",
  DATABASE_ADMIN_URL: "admin",
  WORKER_DATABASE_URL: "worker",
} as const;
export type DatabaseUrlName = keyof typeof roles;
const urlNames = Object.keys(roles) as DatabaseUrlName[];

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
    isDecodable(`${username}:${password}`)
  );
}

/** URLs whose role must differ from the roles of the listed URLs. */
const distinctRoles: Partial<Record<DatabaseUrlName, DatabaseUrlName[]>> = {
  DATABASE_ADMIN_URL: ["DATABASE_URL", "DATABASE_OWNER_URL", "WORKER_DATABASE_URL"],
  WORKER_DATABASE_URL: ["DATABASE_URL"],
};

/** In characters. NIST SP 800-63B-4, section 3.1.1.2, requires it of a password that is the only factor. */
const minPasswordLength = 15;

type Values = Partial<Record<DatabaseUrlName, string | undefined>> &
  Partial<Record<"WEBHOOK_URL" | "MAIL_FROM" | "RETENTION_MONTHS", unknown>>;

export function readRole(url: string): { name: string; password: string } {
  const { username, password } = new URL(url);
  return { name: decodeURIComponent(username), password: decodeURIComponent(password) };
}

interface Connection extends ReturnType<typeof readRole> {
  variable: DatabaseUrlName;
}

/** Returns a sentence for each error, without a password. @param values the settings that are valid on their own. */
export function checkDatabaseUrls(values: Values, isProduction: boolean): string[] {
  const connections = urlNames.flatMap((name) => {
    const url = values[name];
    return url ? Object.assign(readRole(url), { variable: name }) : [];
  });
  const hasWorker = values.WEBHOOK_URL || values.MAIL_FROM || values.RETENTION_MONTHS;
  // Without a password, a certificate or a provider's proxy authenticates the role.
  const used = connections.filter(
    ({ variable, password }) => password !== "" && (variable !== "WORKER_DATABASE_URL" || hasWorker),
  );
  return [...(isProduction ? [...checkStrength(used), ...checkReuse(used)] : []), ...checkRoles(connections)];
}

function checkStrength(connections: Connection[]): string[] {
  return connections.flatMap(({ variable, password }) => {
    if (Array.from(password).length >= minPasswordLength) return [];
    return `${variable} has a password shorter than ${minPasswordLength} characters (docker compose: ${composeVariable(variable)}); make one with: openssl rand -hex 24`;
  });
}

function checkReuse(connections: Connection[]): string[] {
  return [...new Set(connections.map(({ password }) => password))].flatMap((password) => {
    const users = connections.filter((one) => one.password === password);
    if (new Set(users.map(({ name }) => name)).size < 2) return [];
    const variables = users.map(({ variable }) => variable).join(" and ");
    const inCompose = users.map(({ variable }) => composeVariable(variable)).join(" and ");
    return `${variables} have the same password for different roles (docker compose: ${inCompose}); for each role make one with: openssl rand -hex 24`;
  });
}

function checkRoles(connections: Connection[]): string[] {
  return connections.flatMap(({ variable, name }) => {
    const other = connections.find((one) => one.name === name && distinctRoles[variable]?.includes(one.variable));
    if (!other) return [];
    return `${variable} has the role of ${other.variable}, which has other rights; it needs one of its own, for example ${variable}=${exampleUrl(variable)}`;
  });
}
