// Turns the environment into a checked Config; nothing else reads process.env.
import { isIP } from "node:net";
import { z } from "zod";
import { OperatorError } from "./operator-error.ts";
import { decodes } from "./percent-encoding.ts";

export interface Config {
  host: string;
  /** 0 lets the system choose a free port; the log says which. */
  port: number;
  /** Origin only, without a slash at its end. */
  publicUrl: string;
  /** Undefined: start the embedded Postgres. */
  databaseUrl: string | undefined;
  /** Undefined: migrate with databaseUrl, if its role may. */
  databaseOwnerUrl: string | undefined;
  /** How many proxies stand in front, each of which appends to X-Forwarded-For. */
  trustProxy: number;
  signupLimit: number;
  signupWindowSeconds: number;
  /** Over all clients; 0 for none. */
  signupHourlyCeiling: number;
  /** Undefined: each process counts its limits in its own memory. */
  redisUrl: string | undefined;
  /** False keeps the site out of search engines, for staging. */
  allowIndexing: boolean;
  /** Undefined: no metrics. */
  metricsPort: number | undefined;
  /** Undefined: nobody is told of sign-ups. */
  notifyWebhookUrl: string | undefined;
  /** Undefined: notices are unsigned, as Slack reads them. */
  notifyWebhookSecret: string | undefined;
  /** Undefined: send notices with the owner's connection. */
  notifyDatabaseUrl: string | undefined;
  logLevel: LogLevel;
}

const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .refine((n) => n >= min && n <= max);

const hostName = /^(?=.{1,253}$)[a-z\d]([a-z\d-]*[a-z\d])?(\.[a-z\d]([a-z\d-]*[a-z\d])?)*$/i;

const origin = z.string().transform((text, context) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  context.addIssue("not an origin");
  return z.NEVER;
});

/**
 * node-postgres checks the certificate with all of these modes, warns at each start of those that libpq does not check
 * with, and will not check with them either one day: https://www.npmjs.com/package/pg-connection-string
 */
const unverified = /([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/;

const postgresUrl = z
  .string()
  .refine((text) => {
    if (!URL.canParse(text)) return false;
    const url = new URL(text);
    const readable = [url.username, url.password].every(decodes);
    return /^postgres(ql)?:$/.test(url.protocol) && url.username !== "" && url.pathname.length > 1 && readable;
  })
  .transform((text) => (text.includes("uselibpqcompat=true") ? text : text.replace(unverified, "$1verify-full")));

const redisUrl = z
  .string()
  .refine((text) => URL.canParse(text) && /^rediss?:$/.test(new URL(text).protocol) && new URL(text).hostname !== "");

const webhookUrl = z.string().refine((text) => {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === "" && password === "";
});

/** As Standard Webhooks has it. */
const webhookSecret = z.string().refine((text) => {
  const key = /^whsec_([a-z\d+/]+=*)$/i.exec(text)?.[1] ?? "";
  const { length } = Buffer.from(key, "base64");
  return length >= 24 && length <= 64;
});

const environment = z.object({
  HOST: z
    .string()
    .refine((text) => isIP(text) > 0 || hostName.test(text))
    .default("127.0.0.1"),
  PORT: wholeNumber(0, 65_535).default(3000),
  PUBLIC_URL: origin.optional(),
  DATABASE_URL: postgresUrl.optional(),
  DATABASE_OWNER_URL: postgresUrl.optional(),
  TRUST_PROXY: wholeNumber(0, 32).default(0),
  SIGNUP_LIMIT: wholeNumber(1, 1_000_000).default(10),
  SIGNUP_WINDOW_SECONDS: wholeNumber(1, 86_400).default(600),
  SIGNUP_HOURLY_CEILING: wholeNumber(0, 100_000_000).default(1000),
  REDIS_URL: redisUrl.optional(),
  ALLOW_INDEXING: z
    .enum(["true", "false"])
    .transform((text) => text === "true")
    .default(true),
  METRICS_PORT: wholeNumber(1, 65_535).optional(),
  NOTIFY_WEBHOOK_URL: webhookUrl.optional(),
  NOTIFY_WEBHOOK_SECRET: webhookSecret.optional(),
  NOTIFY_DATABASE_URL: postgresUrl.optional(),
  LOG_LEVEL: z.enum(logLevels).default("info"),
});

type Variable = keyof z.infer<typeof environment>;

const databaseRule = "a Postgres URL with user and database, special characters in the password percent-encoded";

/** What each variable must be, and a good value: for the message when it is not. */
const hints: Record<Variable, { rule: string; example: string }> = {
  HOST: { rule: "an IP address or host name to listen on", example: "0.0.0.0" },
  PORT: { rule: "a whole number from 0 to 65535", example: "3000" },
  PUBLIC_URL: { rule: "the site's http or https origin, without a path", example: "https://perennial.example" },
  DATABASE_URL: { rule: databaseRule, example: "postgresql://perennial_web:secret@db.example:5432/perennial" },
  DATABASE_OWNER_URL: { rule: databaseRule, example: "postgresql://perennial_owner:secret@db.example:5432/perennial" },
  TRUST_PROXY: { rule: "the number of proxies in front, from 0 to 32", example: "1" },
  SIGNUP_LIMIT: { rule: "a whole number from 1 to 1000000", example: "10" },
  SIGNUP_WINDOW_SECONDS: { rule: "a whole number of seconds from 1 to 86400", example: "600" },
  SIGNUP_HOURLY_CEILING: { rule: "a whole number from 0 (no ceiling) to 100000000", example: "1000" },
  REDIS_URL: { rule: "a redis:// or rediss:// URL", example: "redis://:secret@cache.example:6379/0" },
  ALLOW_INDEXING: { rule: "true or false", example: "false" },
  METRICS_PORT: { rule: "a whole number from 1 to 65535, and not PORT", example: "9464" },
  NOTIFY_WEBHOOK_URL: {
    rule: "an http or https URL without user and password",
    example: "https://hooks.example/T0/B0/x",
  },
  NOTIFY_WEBHOOK_SECRET: {
    rule: '"whsec_" and 24 to 64 bytes as base64, from: openssl rand -base64 32',
    example: "whsec_QW4gZXhhbXBsZSwgd2hpY2ggaXMgcmVmdXNlZC4=",
  },
  NOTIFY_DATABASE_URL: {
    rule: databaseRule,
    example: "postgresql://perennial_notify:secret@db.example:5432/perennial",
  },
  LOG_LEVEL: { rule: `one of ${logLevels.join(", ")}`, example: "info" },
};

/** What .env calls the password of each for docker compose. */
const databasePasswords = {
  DATABASE_URL: "WEB_PASSWORD",
  DATABASE_OWNER_URL: "OWNER_PASSWORD",
  NOTIFY_DATABASE_URL: "NOTIFY_PASSWORD",
} as const;

/** Those of .env.example, of the examples above and of the README. */
const examplePasswords = new Set([
  "change-this-owner-password",
  "change-this-web-password",
  "change-this-notify-password",
  "a-long-password",
  "another-password",
  "secret",
]);

/**
 * Reads the configuration from environment variables; an empty variable counts as unset.
 * @throws OperatorError naming every bad variable, what it got (passwords hidden) and a good value; in production
 * also where a database has an example's password.
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim() !== ""));
  const parsed = environment.safeParse(given);
  const bad = new Set(parsed.error?.issues.map((issue) => issue.path[0] as Variable));
  if (given.METRICS_PORT && Number(given.METRICS_PORT) === Number(given.PORT ?? 3000)) bad.add("METRICS_PORT");
  const complaints = [...bad].map((name) => {
    const { rule, example } = hints[name];
    const isSecret = /_(URL|SECRET)$/.test(name) && name !== "PUBLIC_URL";
    const got = isSecret ? withoutSecrets(given[name] ?? "") : given[name];
    return `${name} is "${got}" but must be ${rule}, for example ${name}=${example}`;
  });
  if (given.NODE_ENV === "production") {
    for (const [name, password] of Object.entries(databasePasswords) as [keyof typeof databasePasswords, string][]) {
      if (name === "NOTIFY_DATABASE_URL" && !given.NOTIFY_WEBHOOK_URL) continue;
      if (bad.has(name) || !hasExamplePassword(given[name])) continue;
      complaints.push(
        `${name} has the password of an example (docker compose: ${password}), which everybody can read; make one with: openssl rand -hex 24`,
      );
    }
    if (given.NOTIFY_WEBHOOK_SECRET === hints.NOTIFY_WEBHOOK_SECRET.example) {
      complaints.push(
        "NOTIFY_WEBHOOK_SECRET is the example, which everybody can read; make one with: openssl rand -base64 32",
      );
    }
  }
  if (given.DATABASE_OWNER_URL && !given.DATABASE_URL) {
    complaints.push(
      `DATABASE_URL is not set although DATABASE_OWNER_URL is; both must name the same database, for example DATABASE_URL=${hints.DATABASE_URL.example}`,
    );
  }
  if (
    !bad.has("NOTIFY_DATABASE_URL") &&
    !bad.has("DATABASE_URL") &&
    sameRole(given.NOTIFY_DATABASE_URL, given.DATABASE_URL)
  ) {
    complaints.push(
      `NOTIFY_DATABASE_URL has the role of DATABASE_URL, which may not read; it needs one of its own, for example NOTIFY_DATABASE_URL=${hints.NOTIFY_DATABASE_URL.example}`,
    );
  }
  if (!parsed.success || complaints.length > 0) {
    throw new OperatorError(`The configuration is not valid:\n${complaints.map((line) => `  ${line}`).join("\n")}`);
  }
  const values = parsed.data;
  return {
    host: values.HOST,
    port: values.PORT,
    publicUrl: values.PUBLIC_URL ?? `http://localhost:${values.PORT}`,
    databaseUrl: values.DATABASE_URL,
    databaseOwnerUrl: values.DATABASE_OWNER_URL,
    trustProxy: values.TRUST_PROXY,
    signupLimit: values.SIGNUP_LIMIT,
    signupWindowSeconds: values.SIGNUP_WINDOW_SECONDS,
    signupHourlyCeiling: values.SIGNUP_HOURLY_CEILING,
    redisUrl: values.REDIS_URL,
    allowIndexing: values.ALLOW_INDEXING,
    metricsPort: values.METRICS_PORT,
    notifyWebhookUrl: values.NOTIFY_WEBHOOK_URL,
    notifyWebhookSecret: values.NOTIFY_WEBHOOK_SECRET,
    notifyDatabaseUrl: values.NOTIFY_DATABASE_URL,
    logLevel: values.LOG_LEVEL,
  };
}

/** Reads `.env` of the working directory, if there is one, and then the environment, which wins. */
export function loadConfig(): Config {
  try {
    process.loadEnvFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  return readConfig(process.env);
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
