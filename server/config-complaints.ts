// What is wrong with the environment, beyond what can be said of a variable alone; no complaint repeats a secret.
import { hints, type Variable } from "./config-variables.ts";
import { printableName } from "./printable.ts";

/** What .env calls the password in each for docker compose. */
const databasePasswords = {
  DATABASE_URL: "WEB_PASSWORD",
  DATABASE_OWNER_URL: "OWNER_PASSWORD",
  DATABASE_ADMIN_URL: "ADMIN_PASSWORD",
  NOTIFY_DATABASE_URL: "NOTIFY_PASSWORD",
} as const;

/** Those of .env.example, of the examples above and of the README. */
const examplePasswords = new Set([
  "change-this-notify-password",
  "a-long-password",
  "another-password",
  "a-third-password",
  "secret",
]);

/** In characters. NIST SP 800-63B-4, section 3.1.1.2, asks for it if a password is the only factor. */
const shortestPassword = 15;
const remedy = "make one with: openssl rand -hex 24";

type Given = Partial<Record<string, string>>;

/**
 * @param bad the variables that are not what they must be by themselves.
 * @returns a sentence for everything that is wrong.
 */
export function complainOf(given: Given, bad: Set<Variable>): string[] {
  const own = [...bad].map((name) => {
    const { rule, example } = hints[name];
    const isSecret = /_(URL|SECRET)$/.test(name) && name !== "PUBLIC_URL";
    const got = isSecret ? withoutSecrets(given[name] ?? "") : printableName(given[name] ?? "");
    return `${name} is "${got}" but must be ${rule}, for example ${name}=${example}`;
  });
  return [
    ...own,
    ...(given.NODE_ENV === "production" ? complainOfSecrets(given, bad) : []),
    ...complainOfRoles(given, bad),
  ];
}

function complainOfSecrets(given: Given, bad: Set<Variable>): string[] {
  const passwords = readPasswords(given, bad);
  const isExample = ({ password }: DatabasePassword) => examplePasswords.has(password);
  const complaints = [
    ...passwords.filter(isExample).map(({ variable, inCompose }) => {
      return `${variable} has the password of an example (docker compose: ${inCompose}), which everybody can read; ${remedy}`;
    }),
    ...complainOfWeakPasswords(passwords.filter((one) => !isExample(one))),
  ];
  if (given.NOTIFY_WEBHOOK_SECRET !== hints.NOTIFY_WEBHOOK_SECRET.example) return complaints;
  return [
    ...complaints,
    "NOTIFY_WEBHOOK_SECRET is the example, which everybody can read; make one with: openssl rand -base64 32",
  ];
}

function complainOfWeakPasswords(passwords: DatabasePassword[]): string[] {
  const short = passwords.filter(({ password }) => Array.from(password).length < shortestPassword);
  const distinct = [...new Set(passwords.map(({ password }) => password))];
  const shared = distinct
    .map((password) => passwords.filter((one) => one.password === password))
    .filter((users) => new Set(users.map(({ role }) => role)).size > 1);
  return [
    ...short.map(({ variable, inCompose }) => {
      return `${variable} has a password shorter than ${shortestPassword} characters (docker compose: ${inCompose}), which can be guessed; ${remedy}`;
    }),
    ...shared.map((users) => {
      const variables = users.map(({ variable }) => variable).join(" and ");
      const inCompose = users.map((one) => one.inCompose).join(" and ");
      return `${variables} have the same password for different roles (docker compose: ${inCompose}); for each role ${remedy}`;
    }),
  ];
}

interface DatabasePassword {
  variable: string;
  inCompose: string;
  role: string;
  password: string;
}

/** A URL without a password is none of them: a certificate or a provider's proxy may authenticate its role. */
function readPasswords(given: Given, bad: Set<Variable>): DatabasePassword[] {
  return Object.entries(databasePasswords).flatMap(([variable, inCompose]) => {
    const url = given[variable];
    const isUsed = variable !== "NOTIFY_DATABASE_URL" || given.NOTIFY_WEBHOOK_URL;
    if (!url || !isUsed || bad.has(variable as Variable)) return [];
    const { username, password } = new URL(url);
    if (!password) return [];
    return [{ variable, inCompose, role: decodeURIComponent(username), password: decodeURIComponent(password) }];
  });
}

/** Variables whose role must be another than that of the variables after it. */
const distinctRoles: [Variable, Variable[]][] = [
  ["DATABASE_ADMIN_URL", ["DATABASE_URL", "DATABASE_OWNER_URL", "NOTIFY_DATABASE_URL"]],
  ["NOTIFY_DATABASE_URL", ["DATABASE_URL"]],
];

function complainOfRoles(given: Given, bad: Set<Variable>): string[] {
  const complaints: string[] = [];
  for (const name of ["DATABASE_OWNER_URL", "DATABASE_ADMIN_URL"] as const) {
    if (!given[name] || given.DATABASE_URL) continue;
    complaints.push(
      `DATABASE_URL is not set although ${name} is; both must name the same database, for example DATABASE_URL=${hints.DATABASE_URL.example}`,
    );
  }
  for (const [name, others] of distinctRoles) {
    const other = others.find((one) => !bad.has(name) && !bad.has(one) && sameRole(given[name], given[one]));
    if (!other) continue;
    complaints.push(
      `${name} has the role of ${other}, which has other rights; it needs one of its own, for example ${name}=${hints[name].example}`,
    );
  }
  return complaints;
}

function sameRole(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && new URL(one).username === new URL(other).username;
}

/** What can be shown of a connection string: a password may stand anywhere in one that is wrong. */
function withoutSecrets(value: string): string {
  return URL.canParse(value) ? `${new URL(value).protocol}//…` : "…";
}
