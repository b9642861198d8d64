// The table of settings: each with its rule, default and example.
import { z } from "zod";
import { exampleUrl, postgresUrl, type DatabaseUrlName } from "./database-urls.ts";
import * as rules from "./rules.ts";

const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

const databaseUrl = (name: DatabaseUrlName) => ({
  schema: postgresUrl(name).optional(),
  example: exampleUrl(name),
  secret: true,
});

export interface Setting {
  /** Parses the variable's text; undefined if the variable is not set. */
  schema: z.ZodType;
  /** A valid value, for error messages. */
  example: string;
  /** True if the value must not appear in a message, and may come from a file: NAME_FILE holds its path. */
  secret?: boolean;
}

export const settings = {
  /** The address that the server listens on. */
  HOST: { schema: rules.host.default("127.0.0.1"), example: "0.0.0.0" },
  /** The port that the server listens on; 0 lets the system choose a free one. */
  PORT: { schema: rules.wholeNumber(0, 65_535).default(3000), example: "3000" },
  /** The origin that visitors use, without a trailing slash. Undefined: http://localhost and the server's port. */
  PUBLIC_URL: { schema: rules.originUrl.optional(), example: "https://perennial.example" },
  /** Whether HSTS covers every subdomain of the host in PUBLIC_URL. */
  HSTS_INCLUDE_SUBDOMAINS: { schema: rules.trueOrFalse.default(false), example: "true" },
  /** The connection of the web process. Undefined: start the embedded Postgres. */
  DATABASE_URL: databaseUrl("DATABASE_URL"),
  /** The connection for migrating and commands. Undefined: use DATABASE_URL. */
  DATABASE_OWNER_URL: databaseUrl("DATABASE_OWNER_URL"),
  /** The connection for Prisma Studio. Undefined: there are no admins, and Studio does not open. */
  DATABASE_ADMIN_URL: databaseUrl("DATABASE_ADMIN_URL"),
  /** Whether the site starts if the web role is a superuser or the owner. Undefined: outside of production only. */
  ALLOW_PRIVILEGED_ROLE: { schema: rules.trueOrFalse.optional(), example: "true" },
  /** The number of proxies in front of the server, each of which appends to X-Forwarded-For. */
  TRUST_PROXY: { schema: rules.wholeNumber(0, 32, "proxies in front").default(0), example: "1" },
  /** Whether the list takes sign-ups. */
  WAITLIST: { schema: z.enum(["open", "closed"], "open or closed").default("open"), example: "closed" },
  /** The time at which an open list closes by itself. Undefined: it stays open. */
  WAITLIST_CLOSES: { schema: rules.closingTime.optional(), example: "2026-12-31" },
  /** Sign-ups per client and window. */
  SIGNUP_LIMIT: { schema: rules.wholeNumber(1, 1_000_000).default(30), example: "30" },
  /** The length of that window. */
  SIGNUP_WINDOW_SECONDS: { schema: rules.wholeNumber(1, 86_400, "seconds").default(600), example: "600" },
  /** Sign-ups per hour and process, over all clients, above which new entries get a flag. */
  SIGNUP_HOURLY_CEILING: {
    schema: rules.wholeNumber(0, 100_000_000, "sign-ups (0: no ceiling)").default(1000),
    example: "1000",
  },
  /** The Redis in which replicas share SIGNUP_LIMIT. Undefined: each process counts in its own memory. */
  REDIS_URL: { schema: rules.redisUrl.optional(), example: "redis://:secret@cache.example:6379/0", secret: true },
  /** Name and postal address of who keeps the list, for the privacy page. Undefined: not shown. */
  CONTROLLER: { schema: rules.printableLine.optional(), example: "Perennial Inc., 1 Garden Way, 12345 Springfield" },
  /** The address for questions about an entry, and in security.txt. Undefined: the pages promise no answer. */
  CONTACT_EMAIL: { schema: z.email("an email address").optional(), example: "privacy@perennial.example" },
  /** Who else gets which data, in which country, for the privacy page. Undefined: a general sentence. */
  RECIPIENTS: { schema: rules.printableLine.optional(), example: "Hosting Ltd. (Ireland) runs our server." },
  /** Further links of the footer, such as an imprint. Undefined: none. */
  LEGAL_LINKS: { schema: rules.legalLinks.optional(), example: "Imprint=https://perennial.example/imprint" },
  /** How long an entry is kept after the sign-up; 0 sets no limit. */
  RETENTION_MONTHS: { schema: rules.wholeNumber(0, 1_200, "months (0: no limit)").default(0), example: "24" },
  /** The key of the hashes of erased addresses, which then do not return with a restore or an import. Undefined: none are kept. */
  ERASURE_KEY: { schema: rules.erasureKey.optional(), example: "an-example-that-production-refuses", secret: true },
  /** The sender of confirmation mails. Undefined: no mails. */
  MAIL_FROM: { schema: rules.mailFrom.optional(), example: "Perennial <hello@perennial.example>" },
  /** The mail server, which only the worker uses. */
  SMTP_URL: { schema: rules.mailServerUrl.optional(), example: "smtp://user:secret@mail.example:587", secret: true },
  /** The share of mails that people must confirm; below it, mails wait (models/list/mails.ts). */
  MAIL_MIN_CONFIRMED: { schema: rules.wholeNumber(0, 100, "per cent (0: send all)").default(10), example: "10" },
  /** False keeps the site out of search engines, for staging. */
  ALLOW_INDEXING: { schema: rules.trueOrFalse.default(true), example: "false" },
  /** The port of the Prometheus metrics, another one than PORT. Undefined: no metrics. */
  METRICS_PORT: { schema: rules.wholeNumber(1, 65_535).optional(), example: "9464" },
  /** The port of the worker's Prometheus metrics. Undefined: no metrics. */
  WORKER_METRICS_PORT: { schema: rules.wholeNumber(1, 65_535).optional(), example: "9465" },
  /** The receiver of a webhook for each sign-up. Undefined: no webhooks. */
  WEBHOOK_URL: { schema: rules.webhookUrl.optional(), example: "https://hooks.example/T0/B0/x", secret: true },
  /** The key that signs webhooks. Undefined: they are unsigned, in Slack's format. */
  WEBHOOK_SECRET: {
    schema: rules.webhookSecret.optional(),
    example: "whsec_QW4gZXhhbXBsZSwgd2hpY2ggaXMgcmVmdXNlZC4=",
    secret: true,
  },
  /** The connection of the worker. Undefined: use the owner's. */
  WORKER_DATABASE_URL: databaseUrl("WORKER_DATABASE_URL"),
  /** The least severe level that is logged. */
  LOG_LEVEL: { schema: z.enum(logLevels, `one of ${logLevels.join(", ")}`).default("info"), example: "info" },
} satisfies Record<string, Setting>;

export type SettingName = keyof typeof settings;
export type SettingValues = { [Name in SettingName]: z.infer<(typeof settings)[Name]["schema"]> };

export const settingNames = Object.keys(settings) as SettingName[];

/** The value of each setting under its name in camel case, as databaseUrl for DATABASE_URL. */
export type Config = { [Name in SettingName as CamelCase<Name>]: SettingValues[Name] } & {
  allowPrivilegedRole: boolean;
  isProduction: boolean;
};

type CamelCase<Name extends string> = Name extends `${infer Word}_${infer Rest}`
  ? `${Lowercase<Word>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name>;
