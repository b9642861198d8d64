// The configuration: every setting with its rule, default and example, and how its value is read. Only this file reads process.env.
import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { z } from "zod";
import { isDecodable } from "../client/shared/paths.ts";
import { checkDatabaseUrls, exampleDatabaseUrls, postgresUrl, type DatabaseUrlName } from "./database-urls.ts";
import { OperatorError, printableName } from "./operator-messages.ts";

const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

// Each kind of value has its rule as zod's error, which completes "NAME must be …".

const wholeNumber = (min: number, max: number, unit?: string) => {
  const rule = `a whole number${unit ? ` of ${unit}` : ""} from ${min} to ${max}`;
  return z
    .string()
    .refine((text) => /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max, rule)
    .transform(Number);
};

const trueOrFalse = z.enum(["true", "false"], "true or false").transform((text) => text === "true");

const host = z.union([z.ipv6(), z.hostname()], "an IP address or host name to listen on");

const url = (rule: string, isValid: (url: URL) => boolean) =>
  z.string().refine((text) => URL.canParse(text) && isValid(new URL(text)), rule);

const originUrl = url(
  "the site's http or https origin, without a path",
  ({ protocol, href, origin }) => /^https?:$/.test(protocol) && href === `${origin}/`,
).transform((text) => new URL(text).origin);

const redisUrl = z.url({ protocol: /^rediss?$/, hostname: /./, error: "a redis:// or rediss:// URL" });

const webhookUrl = url(
  "an http or https URL without user and password",
  ({ protocol, username, password }) => /^https?:$/.test(protocol) && username === "" && password === "",
);

const dayMs = 86_400_000;

/** Parses a date, which stands for the end of that day in UTC, or a time with its offset, with or without seconds. */
const closingTime = z.union(
  [
    z.iso.date().transform((day) => new Date(Date.parse(day) + dayMs)),
    z.iso.datetime({ offset: true, precision: -1 }).transform((time) => new Date(time)),
    z.iso.datetime({ offset: true }).transform((time) => new Date(time)),
  ],
  "a date, at whose end in UTC the list closes, or a time like 2026-12-31T18:00+01:00",
);

/** A secret in the format of Standard Webhooks. */
const webhookSecret = z
  .string()
  .regex(/^whsec_[a-z\d+/]{32,86}={0,2}$/i, '"whsec_" and 24 to 64 bytes as base64, from: openssl rand -base64 32');

const printableLine = z
  .string()
  .trim()
  .regex(/^\P{C}{1,300}$/u, "one line of at most 300 characters");

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
  ({ protocol, hostname, username, password, pathname, search, hash }) =>
    /^smtps?:$/.test(protocol) &&
    hostname !== "" &&
    (username !== "" || password === "") &&
    pathname.replace("/", "") + search + hash === "" &&
    isDecodable(`${username}:${password}`),
);

/** An address, or a name and an address; without quotes and special characters, which a name rarely needs. */
const mailFrom = z.string().transform((text, context) => {
  const [, name = "", email = text] = /^\s*([^"<>()[\]\\,;:@\p{C}]{1,100}?)\s*<([^<>]+)>\s*$/u.exec(text) ?? [];
  if (z.email().safeParse(email.trim()).success) return { name, address: email.trim() };
  context.addIssue(
    "an email address, or a name and an address in <>; the name without quotes, commas and other special characters",
  );
  return z.NEVER;
});

const erasureKey = z.string().regex(/^\S{32,}$/, "32 characters or more without spaces, from: openssl rand -hex 32");

const databaseUrl = (name: DatabaseUrlName) => ({
  schema: postgresUrl(name).optional(),
  example: exampleDatabaseUrls[name],
  secret: true,
});

interface Setting {
  /** Parses the variable's text; undefined if the variable is not set. */
  schema: z.ZodType;
  /** A valid value, for error messages. */
  example: string;
  /** True if the value must not appear in a message, and may come from a file: NAME_FILE holds its path. */
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
  DATABASE_URL: databaseUrl("DATABASE_URL"),
  /** The connection for migrating and commands. Undefined: use DATABASE_URL. */
  DATABASE_OWNER_URL: databaseUrl("DATABASE_OWNER_URL"),
  /** The connection for Prisma Studio. Undefined: there are no admins, and Studio does not open. */
  DATABASE_ADMIN_URL: databaseUrl("DATABASE_ADMIN_URL"),
  /** Whether the site starts if the web role is a superuser or the owner. Undefined: unless in production. */
  ALLOW_PRIVILEGED_ROLE: { schema: trueOrFalse.optional(), example: "true" },
  /** The number of proxies in front of the server, each of which appends to X-Forwarded-For. */
  TRUST_PROXY: { schema: wholeNumber(0, 32, "proxies in front").default(0), example: "1" },
  /** Whether the list takes sign-ups. */
  WAITLIST: { schema: z.enum(["open", "closed"], "open or closed").default("open"), example: "closed" },
  /** The time at which an open list closes by itself. Undefined: it stays open. */
  WAITLIST_CLOSES: { schema: closingTime.optional(), example: "2026-12-31" },
  /** Sign-ups per client and window. */
  SIGNUP_LIMIT: { schema: wholeNumber(1, 1_000_000).default(30), example: "30" },
  /** The length of that window. */
  SIGNUP_WINDOW_SECONDS: { schema: wholeNumber(1, 86_400, "seconds").default(600), example: "600" },
  /** New entries per hour and process, over all clients, above which an entry gets a flag. */
  SIGNUP_HOURLY_CEILING: {
    schema: wholeNumber(0, 100_000_000, "entries (0: no ceiling)").default(1000),
    example: "1000",
  },
  /** The Redis in which replicas share SIGNUP_LIMIT. Undefined: each process counts in its own memory. */
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
  /** The share of the latest mails that people must confirm; below it, the worker sends few mails. */
  MAIL_MIN_CONFIRMED: { schema: wholeNumber(0, 100, "per cent (0: send all)").default(10), example: "10" },
  /** False keeps the site out of search engines, for staging. */
  ALLOW_INDEXING: { schema: trueOrFalse.default(true), example: "false" },
  /** The port of the Prometheus metrics, another one than PORT. Undefined: no metrics. */
  METRICS_PORT: { schema: wholeNumber(1, 65_535).optional(), example: "9464" },
  /** The port of the worker's Prometheus metrics. Undefined: no metrics. */
  WORKER_METRICS_PORT: { schema: wholeNumber(1, 65_535).optional(), example: "9465" },
  /** The receiver of a webhook for each sign-up. Undefined: no webhooks. */
  WEBHOOK_URL: { schema: webhookUrl.optional(), example: "https://hooks.example/T0/B0/x", secret: true },
  /** The key that signs webhooks. Undefined: they are unsigned, in Slack's format. */
  WEBHOOK_SECRET: {
    schema: webhookSecret.optional(),
    example: "whsec_QW4gZXhhbXBsZSwgd2hpY2ggaXMgcmVmdXNlZC4=",
    secret: true,
  },
  /** The connection of the worker. Undefined: use the owner's. */
  WORKER_DATABASE_URL: databaseUrl("WORKER_DATABASE_URL"),
  /** The least severe level that is logged. */
  LOG_LEVEL: { schema: z.enum(logLevels, `one of ${logLevels.join(", ")}`).default("info"), example: "info" },
} satisfies Record<string, Setting>;

type SettingName = keyof typeof settings;
type SettingValues = { [Name in SettingName]: z.infer<(typeof settings)[Name]["schema"]> };

export const settingNames = Object.keys(settings) as SettingName[];

/** The value of each setting under its name in camel case, as databaseUrl for DATABASE_URL. */
export type Config = { [Name in SettingName as CamelCase<Name>]: SettingValues[Name] } & {
  allowPrivilegedRole: boolean;
  isProduction: boolean;
};

type CamelCase<Name extends string> = Name extends `${infer Word}_${infer Rest}`
  ? `${Lowercase<Word>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name>;

/** Reads `.env` of the working directory, if there is one, and then the environment, which wins. */
export function loadConfig(): Config {
  for (const [name, value] of Object.entries(readEnvFile())) process.env[name] ??= value;
  return readConfig(process.env);
}

/**
 * Reads the configuration from environment variables; an empty variable counts as unset.
 * @throws OperatorError naming every invalid variable with its value (secrets hidden) and an example. In production, the
 * examples of secrets, short passwords and passwords shared by two roles are invalid.
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const set = Object.fromEntries(Object.entries(env).filter(([, text]) => text?.trim()));
  const files = readSecretFiles(set);
  const given = { ...set, ...files.secrets };
  const isProduction = given.NODE_ENV === "production";
  const { values, errors } = parseSettings(given);
  errors.unshift(...files.errors);
  const { METRICS_PORT: metricsPort, PORT: port } = values;
  if (metricsPort !== undefined && metricsPort === port)
    errors.push(describeInvalid("METRICS_PORT", `${port}`, "another port than PORT", settings.METRICS_PORT.example));
  errors.push(...checkDatabaseUrls(values, isProduction), ...checkPresence(given));
  if (values.REDIS_URL && values.DATABASE_URL && !new URL(values.DATABASE_URL).password) {
    errors.push("REDIS_URL needs a password in DATABASE_URL, which is the key of the hashes of clients' addresses");
  }
  const examples = settingNames.filter((name) => isSecret(name) && given[name] === settings[name].example);
  if (isProduction) errors.push(...examples.map((name) => `${name} is the example, which everybody can read`));
  if (errors.length > 0) {
    throw new OperatorError(`The configuration is not valid:\n${errors.map((line) => `  ${line}`).join("\n")}`);
  }
  values.ALLOW_PRIVILEGED_ROLE ??= !isProduction;
  const config = Object.fromEntries(Object.entries(values).map(([name, value]) => [toCamelCase(name), value]));
  return { ...config, isProduction } as Config;
}

/** Returns a copy of this process's environment without secrets, for child processes. */
export function childEnvironment(): NodeJS.ProcessEnv {
  const environment = { ...process.env };
  for (const name of settingNames) if (isSecret(name)) delete environment[name];
  return environment;
}

const isSecret = (name: SettingName) => Boolean((settings[name] as Setting).secret);

/** Reads each secret NAME whose path is in NAME_FILE, as the official Postgres image does. */
function readSecretFiles(given: NodeJS.Dict<string>): { secrets: NodeJS.Dict<string>; errors: string[] } {
  const secrets: NodeJS.Dict<string> = {};
  const errors: string[] = [];
  for (const name of settingNames.filter(isSecret)) {
    const variable = `${name}_FILE`;
    const path = given[variable];
    if (!path) continue;
    if (given[name]) errors.push(`${name} and ${variable} are both set; unset one of them`);
    try {
      secrets[name] = readFileSync(path, "utf8").replace(/[\r\n]+$/, "");
    } catch (error) {
      const rule = `the path of a file that can be read (${(error as NodeJS.ErrnoException).code})`;
      errors.push(describeInvalid(variable, showValue(path), rule, `/run/secrets/${name.toLowerCase()}`));
    }
  }
  return { secrets, errors };
}

/** Returns an error for each variable that is missing although another one requires it. */
function checkPresence(given: NodeJS.Dict<string>): string[] {
  const needed: [SettingName, SettingName][] = [
    ["SMTP_URL", "MAIL_FROM"],
    ["MAIL_FROM", "ERASURE_KEY"],
    ["MAIL_FROM", "PUBLIC_URL"],
  ];
  return needed.flatMap(([name, other]) =>
    given[name] && !given[other]
      ? `${other} is not set, but ${name} needs it, for example ${other}=${settings[other].example}`
      : [],
  );
}

/** Returns the values of the valid settings and a sentence for each other one. */
function parseSettings(given: NodeJS.Dict<string>): { values: Partial<SettingValues>; errors: string[] } {
  const values: Partial<Record<SettingName, unknown>> = {};
  const errors: string[] = [];
  for (const name of settingNames) {
    const { schema, example } = settings[name];
    const { data, error } = schema.safeParse(given[name]);
    const rule = error?.issues[0]?.message;
    if (rule) errors.push(describeInvalid(name, showValue(given[name], isSecret(name)), rule, example));
    else values[name] = data;
  }
  return { values: values as Partial<SettingValues>, errors };
}

function describeInvalid(variable: string, shown: string, rule: string, example: string): string {
  return `${variable} is "${shown}" but must be ${rule}, for example ${variable}=${example}`;
}

/** Shows only a known protocol of a secret and of a URL with a login: if it is invalid, its password may stand anywhere. */
function showValue(text = "", secret = false): string {
  if (!secret && !text.includes("@")) return printableName(text);
  const protocol = /^(?:postgres(?:ql)?|rediss?|https?|smtps?):\/\//.exec(text)?.[0] ?? "";
  return `${protocol}…`;
}

function toCamelCase(name: string): string {
  return name.toLowerCase().replace(/_(.)/g, (_match, letter: string) => letter.toUpperCase());
}

/** Returns no variables if there is no .env. @throws OperatorError if it cannot be read or is not UTF-8. */
function readEnvFile(): NodeJS.Dict<string> {
  let bytes: Buffer;
  try {
    bytes = readFileSync(".env");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return {};
    throw new OperatorError(`.env cannot be read (${code}). It must be a file that this account may read.`);
  }
  // PowerShell's ">" writes UTF-16, which parseEnv cannot read.
  if (!isUtf8(bytes) || bytes.includes(0)) {
    throw new OperatorError(
      ".env is not UTF-8. Save it as UTF-8, in PowerShell with: (Get-Content .env) | Set-Content -Encoding utf8 .env",
    );
  }
  // A byte order mark, which Windows editors write, would become part of the first name.
  return parseEnv(bytes.toString().replace(/^\uFEFF/, ""));
}
