// What is wrong with the environment, beyond what can be said of a variable alone; no complaint repeats a secret.
import { hints, type Variable } from "./config-variables.ts";
import { printableName } from "./printable.ts";

/** What .env calls the password of each for docker compose. */
const databasePasswords = {
  DATABASE_URL: "WEB_PASSWORD",
  DATABASE_OWNER_URL: "OWNER_PASSWORD",
  DATABASE_ADMIN_URL: "ADMIN_PASSWORD",
  NOTIFY_DATABASE_URL: "NOTIFY_PASSWORD",
} as const;

/** Those of .env.example, of the examples above and of the README. */
const examplePasswords = new Set([
  "change-this-owner-password",
  "change-this-web-password",
  "change-this-admin-password",
  "change-this-notify-password",
  "a-long-password",
  "another-password",
  "a-third-password",
  "secret",
]);

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
    ...(given.NODE_ENV === "production" ? complainOfExamples(given, bad) : []),
    ...complainOfRoles(given, bad),
  ];
}

function complainOfExamples(given: Given, bad: Set<Variable>): string[] {
  const used = Object.entries(databasePasswords).filter(
    ([name]) => !bad.has(name as Variable) && (name !== "NOTIFY_DATABASE_URL" || given.NOTIFY_WEBHOOK_URL),
  );
  const complaints = used
    .filter(([name]) => hasExamplePassword(given[name]))
    .map(
      ([name, password]) =>
        `${name} has the password of an example (docker compose: ${password}), which everybody can read; make one with: openssl rand -hex 24`,
    );
  if (given.NOTIFY_WEBHOOK_SECRET !== hints.NOTIFY_WEBHOOK_SECRET.example) return complaints;
  return [
    ...complaints,
    "NOTIFY_WEBHOOK_SECRET is the example, which everybody can read; make one with: openssl rand -base64 32",
  ];
}

function complainOfRoles(given: Given, bad: Set<Variable>): string[] {
  const complaints: string[] = [];
  for (const name of ["DATABASE_OWNER_URL", "DATABASE_ADMIN_URL"] as const) {
    if (!given[name] || given.DATABASE_URL) continue;
    complaints.push(
      `DATABASE_URL is not set although ${name} is; both must name the same database, for example DATABASE_URL=${hints.DATABASE_URL.example}`,
    );
  }
  const roles = {
    DATABASE_ADMIN_URL: "DATABASE_URL DATABASE_OWNER_URL NOTIFY_DATABASE_URL",
    NOTIFY_DATABASE_URL: "DATABASE_URL",
  };
  for (const [name, others] of Object.entries(roles) as [keyof typeof roles, string][]) {
    const other = others
      .split(" ")
      .find((one) => !bad.has(name) && !bad.has(one as Variable) && sameRole(given[name], given[one]));
    if (!other) continue;
    complaints.push(
      `${name} has the role of ${other}, which has other rights; it needs one of its own, for example ${name}=${hints[name].example}`,
    );
  }
  return complaints;
}

function hasExamplePassword(url: string | undefined): boolean {
  return url !== undefined && examplePasswords.has(decodeURIComponent(new URL(url).password));
}

function sameRole(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && new URL(one).username === new URL(other).username;
}

/** What can be shown of a connection string: a password may stand anywhere in one that is wrong. */
function withoutSecrets(value: string): string {
  return URL.canParse(value) ? `${new URL(value).protocol}//…` : "…";
}
