// The table of settings: the rule, default and example of each environment variable.
import { isIP } from "node:net";
import { z } from "zod";
import { isDecodable } from "../../client/percent-encoding.ts";

const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

const viewCounters = ["server", "beacon", "off"] as const;

// Each kind of value has its rule as zod's error, which completes "NAME must be …".

const wholeNumber = (min: number, max: number, unit?: string) => {
  const rule = `a whole number${unit ? ` of ${unit}` : ""} from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, rule)
    .transform(Number)
    .refine((n) => n >= min && n <= max, rule);
};

const trueOrFalse = z.enum(["true", "false"], "true or false").transform((text) => text === "true");

const hostName = /^(?=.{1,253}$)[a-z\d]([a-z\d-]*[a-z\d])?(\.[a-z\d]([a-z\d-]*[a-z\d])?)*$/i;

const host = z
  .string()
  .refine((text) => isIP(text) > 0 || hostName.test(text), "an IP address or host name to listen on");

const url = (rule: string, isValid: (url: URL) => boolean) =>
  z.string().refine((text) => URL.canParse(text) && isValid(new URL(text)), rule);

const originUrl = url(
  "the site's http or https origin, without a path",
  ({ protocol, href, origin }) => /^https?:$/.test(protocol) && href === `${origin}/`,
).transform((text) => new URL(text).origin);

/**
 * node-postgres verifies the certificate in each of these modes, but warns at each start that a later version will not:
 * https://www.npmjs.com/package/pg-connection-string
 */
const unverified = /([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/;

const postgresUrl = url(
  "a Postgres URL with user and database, special characters in the password percent-encoded",
  ({ protocol, username, password, pathname }) =>
    /^postgres(ql)?:$/.test(protocol) &&
    username !== "" &&
    pathname.length > 1 &&
    isDecodable(`${username}:${password}`),
).transform((text) => (text.includes("uselibpqcompat=true") ? text : text.replace(unverified, "$1verify-full")));

const redisUrl = url(
  "a redis:// or rediss:// URL",
  ({ protocol, hostname }) => /^rediss?:$/.test(protocol) && hostname !== "",
);

const webhookUrl = url(
  "an http or https URL without user and password",
  ({ protocol, username, password }) => /^https?:$/.test(protocol) && username === "" && password === "",
);

const dayMs = 86_400_000;

/** Parses a date, which stands for the end of that day in UTC, or a time with its offset. */
const closingTime = z.string().transform((text, context) => {
  const [, day = "", time] = /^([\d-]{10})(T\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d))?$/.exec(text) ?? [];
  const moment = new Date(time ? text : Date.parse(day) + dayMs);
  if (z.iso.date().safeParse(day).success && !Number.isNaN(moment.getTime())) return moment;
  context.addIssue("a date, at whose end in UTC the list closes, or a time like 2026-12-31T18:00+01:00");
  return z.NEVER;
});

/** A secret in the format of Standard Webhooks. */
const webhookSecret = z.string().refine((text) => {
  const key = /^whsec_([a-z\d+/]+=*)$/i.exec(text)?.[1] ?? "";
  const { length } = Buffer.from(key, "base64");
  return length >= 24 && length <= 64;
}, '"whsec_" and 24 to 64 bytes as base64, from: openssl rand -base64 32');

const printableLine = z
  .string()
  .trim()
  .refine((text) => text.length <= 300 && !/\p{C}/u.test(text), "one line of at most 300 characters");

/** Parses "Label=https://…, Label=https://…". */
const legalLinks = z
  .string()
  .transform((text) =>
    text.split(",").map((link) => {
      const [, label = "", target = ""] = /^\s*([^=]+?)\s*=\s*(\S+)\s*$/.exec(link) ?? [];
      return { label, url: target };
    }),
  )
  .refine(
    (links) => links.every(({ url: target }) => URL.canParse(target) && new URL(target).protocol === "https:"),
    "Label=https://… pairs, separated by commas",
  );

const mailServerUrl = url(
  "an smtp:// or smtps:// URL, special characters in the password percent-encoded",
  ({ protocol, hostname, port, username, password, pathname, search, hash }) =>
    /^smtps?:$/.test(protocol) &&
    (hostName.test(hostname) || isIP(hostname.replace(/^\[(.*)\]$/, "$1")) > 0) &&
    port !== "0" &&
    (username !== "" || password === "") &&
    pathname.replace("/", "") + search + hash === "" &&
    isDecodable(`${username}:${password}`),
);

/** An address, or a name and an address; without quotes and special characters, which a name rarely needs. */
const mailFrom = z.string().transform((text, context) => {
  const [, name = "", address = text] = /^\s*([^"<>()[\]\\,;:@\p{C}]{1,100}?)\s*<([^<>]+)>\s*$/u.exec(text) ?? [];
  if (z.email().safeParse(address.trim()).success) return { name, address: address.trim() };
  context.addIssue(
    "an email address, or a name and an address in <>; the name without quotes, commas and other special characters",
  );
  return z.NEVER;
});

const erasureKey = z
  .string()
  .refine(
    (text) => text.length >= 32 && !/\s/.test(text),
    "32 characters or more without spaces, from: openssl rand -hex 32",
  );

const databaseConnection = (role: string) => ({
  schema: postgresUrl.optional(),
  example: `postgresql://${role}:secret@db.example:5432/perennial`,
  secret: true,
});

export interface Setting {
  /** Parses the variable's text; undefined if the variable is not set. */
  schema: z.ZodType;
  /** A valid value, for error messages. */
  example: string;
  /** True if the value must not appear in a message. */
  secret?: boolean;
}

export const settings = {
  /** The address that the server listens on. */
  HOST: { schema: host.default("127.0.0.1"), example: "0.0.0.0" },
  /** The port that the server listens on; 0 lets the system choose a free one. */
  PORT: { schema: wholeNumber(0, 65_535).default(3000), example: "3000" },
  /** The origin that visitors use, without a slash at its end. Undefined: http://localhost and the server's port. */
  PUBLIC_URL: { schema: originUrl.optional(), example: "https://perennial.example" },
  /** Whether HSTS covers every subdomain of the host in PUBLIC_URL. */
  HSTS_INCLUDE_SUBDOMAINS: { schema: trueOrFalse.default(false), example: "true" },
  /** The connection of the web process. Undefined: start the embedded Postgres. */
  DATABASE_URL: databaseConnection("perennial_web"),
  /** The connection for migrations and commands. Undefined: use DATABASE_URL. */
  DATABASE_OWNER_URL: databaseConnection("perennial_owner"),
  /** The connection for Prisma Studio. Undefined: there are no admins, and Studio does not open. */
  DATABASE_ADMIN_URL: databaseConnection("perennial_admin"),
  /** Whether the site starts if the web role is a superuser or the owner. Undefined: unless in production. */
  ALLOW_PRIVILEGED_ROLE: { schema: trueOrFalse.optional(), example: "true" },
  /** The number of proxies in front of the server, each of which appends to X-Forwarded-For. */
  TRUST_PROXY: { schema: wholeNumber(0, 32, "proxies in front").default(0), example: "1" },
  /** Whether the list takes sign-ups. */
  WAITLIST: { schema: z.enum(["open", "closed"], "open or closed").default("open"), example: "closed" },
  /** The time at which an open list closes by itself. Undefined: it stays open. */
  WAITLIST_CLOSES: { schema: closingTime.optional(), example: "2026-12-31" },
  /** Sign-ups per client and window. */
  SIGNUP_LIMIT: { schema: wholeNumber(1, 1_000_000).default(10), example: "10" },
  /** The length of that window. */
  SIGNUP_WINDOW_SECONDS: { schema: wholeNumber(1, 86_400, "seconds").default(600), example: "600" },
  /** New entries per hour over all clients, above which an entry gets a flag. */
  SIGNUP_HOURLY_CEILING: {
    schema: wholeNumber(0, 100_000_000, "entries (0: no ceiling)").default(1000),
    example: "1000",
  },
  /** The Redis in which replicas share these limits. Undefined: each process counts in its own memory. */
  REDIS_URL: { schema: redisUrl.optional(), example: "redis://:secret@cache.example:6379/0", secret: true },
  /** Name and postal address of who keeps the list, for the privacy page. Undefined: not shown. */
  CONTROLLER: { schema: printableLine.optional(), example: "Perennial Inc., 1 Garden Way, 12345 Springfield" },
  /** The address for questions about an entry, and in security.txt. Undefined: the pages promise no answer. */
  CONTACT_EMAIL: { schema: z.email("an email address").optional(), example: "privacy@perennial.example" },
  /** Further links of the footer, such as an imprint. Undefined: none. */
  LEGAL_LINKS: { schema: legalLinks.optional(), example: "Imprint=https://perennial.example/imprint" },
  /** For how long an entry is kept after the sign-up; 0 has no limit. */
  RETENTION_MONTHS: { schema: wholeNumber(0, 1_200, "months (0: no limit)").default(0), example: "24" },
  /** The key of the hashes of erased addresses, which then do not return with a restore or an import. Undefined: none are kept. */
  ERASURE_KEY: { schema: erasureKey.optional(), example: "an-example-that-production-refuses", secret: true },
  /** The sender of confirmation mails. Undefined: no mails. */
  MAIL_FROM: { schema: mailFrom.optional(), example: "Perennial <hello@perennial.example>" },
  /** The mail server, which only the worker uses. */
  SMTP_URL: { schema: mailServerUrl.optional(), example: "smtp://user:secret@mail.example:587", secret: true },
  /** False keeps the site out of search engines, for staging. */
  ALLOW_INDEXING: { schema: trueOrFalse.default(true), example: "false" },
  /** What counts page views: the server, a beacon of the page's script (behind a CDN), or nothing. */
  COUNT_VIEWS: { schema: z.enum(viewCounters, "server, beacon or off").default("server"), example: "beacon" },
  /** The port of the Prometheus metrics, another one than PORT. Undefined: no metrics. */
  METRICS_PORT: { schema: wholeNumber(1, 65_535).optional(), example: "9464" },
  /** The receiver of a notification for each sign-up. Undefined: no notifications. */
  NOTIFY_WEBHOOK_URL: { schema: webhookUrl.optional(), example: "https://hooks.example/T0/B0/x", secret: true },
  /** The key that signs notifications. Undefined: they are unsigned, in Slack's format. */
  NOTIFY_WEBHOOK_SECRET: {
    schema: webhookSecret.optional(),
    example: "whsec_QW4gZXhhbXBsZSwgd2hpY2ggaXMgcmVmdXNlZC4=",
    secret: true,
  },
  /** The connection of the worker. Undefined: use the owner's. */
  NOTIFY_DATABASE_URL: databaseConnection("perennial_notify"),
  /** The least severe level that is logged. */
  LOG_LEVEL: { schema: z.enum(logLevels, `one of ${logLevels.join(", ")}`).default("info"), example: "info" },
} satisfies Record<string, Setting>;

export type SettingName = keyof typeof settings;
export type SettingValues = { [Name in SettingName]: z.infer<(typeof settings)[Name]["schema"]> };

export const settingNames = Object.keys(settings) as SettingName[];
