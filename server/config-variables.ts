// What each variable of the environment must be, its default, and a good value.
import { isIP } from "node:net";
import { z } from "zod";
import { decodes } from "./percent-encoding.ts";

const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .refine((n) => n >= min && n <= max);

const trueOrFalse = z.enum(["true", "false"]).transform((text) => text === "true");

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

export const environment = z.object({
  HOST: z
    .string()
    .refine((text) => isIP(text) > 0 || hostName.test(text))
    .default("127.0.0.1"),
  PORT: wholeNumber(0, 65_535).default(3000),
  PUBLIC_URL: origin.optional(),
  HSTS_INCLUDE_SUBDOMAINS: trueOrFalse.default(false),
  DATABASE_URL: postgresUrl.optional(),
  DATABASE_OWNER_URL: postgresUrl.optional(),
  DATABASE_ADMIN_URL: postgresUrl.optional(),
  ALLOW_PRIVILEGED_ROLE: trueOrFalse.optional(),
  TRUST_PROXY: wholeNumber(0, 32).default(0),
  SIGNUP_LIMIT: wholeNumber(1, 1_000_000).default(10),
  SIGNUP_WINDOW_SECONDS: wholeNumber(1, 86_400).default(600),
  SIGNUP_HOURLY_CEILING: wholeNumber(0, 100_000_000).default(1000),
  REDIS_URL: redisUrl.optional(),
  ALLOW_INDEXING: trueOrFalse.default(true),
  METRICS_PORT: wholeNumber(1, 65_535).optional(),
  NOTIFY_WEBHOOK_URL: webhookUrl.optional(),
  NOTIFY_WEBHOOK_SECRET: webhookSecret.optional(),
  NOTIFY_DATABASE_URL: postgresUrl.optional(),
  LOG_LEVEL: z.enum(logLevels).default("info"),
});

export type Variable = keyof z.infer<typeof environment>;

const databaseRule = "a Postgres URL with user and database, special characters in the password percent-encoded";

/** What each variable must be, and a good value: for the message when it is not. */
export const hints: Record<Variable, { rule: string; example: string }> = {
  HOST: { rule: "an IP address or host name to listen on", example: "0.0.0.0" },
  PORT: { rule: "a whole number from 0 to 65535", example: "3000" },
  PUBLIC_URL: { rule: "the site's http or https origin, without a path", example: "https://perennial.example" },
  HSTS_INCLUDE_SUBDOMAINS: { rule: "true or false", example: "true" },
  DATABASE_URL: { rule: databaseRule, example: "postgresql://perennial_web:secret@db.example:5432/perennial" },
  DATABASE_OWNER_URL: { rule: databaseRule, example: "postgresql://perennial_owner:secret@db.example:5432/perennial" },
  DATABASE_ADMIN_URL: { rule: databaseRule, example: "postgresql://perennial_admin:secret@db.example:5432/perennial" },
  ALLOW_PRIVILEGED_ROLE: { rule: "true or false", example: "true" },
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
