// Turns the environment into a checked Config; nothing else reads process.env.
import { complainOf } from "./config-complaints.ts";
import { readEnvFile } from "./config-file.ts";
import { describeMisspelt } from "./config-spelling.ts";
import { environment, type LogLevel, type Variable } from "./config-variables.ts";
import { OperatorError } from "./operator-error.ts";

export interface Config {
  host: string;
  /** 0 lets the system choose a free port; the log says which. */
  port: number;
  /** Origin only, without a slash at its end. Undefined: http://localhost and the port that the server listens on. */
  publicUrl: string | undefined;
  /** True extends HSTS to every subdomain of the host in publicUrl. */
  hstsIncludeSubdomains: boolean;
  /** Undefined: start the embedded Postgres. */
  databaseUrl: string | undefined;
  /** Undefined: migrate with databaseUrl, if its role may. */
  databaseOwnerUrl: string | undefined;
  /** Undefined: there are no admins, and Studio does not open. */
  databaseAdminUrl: string | undefined;
  /** False: the start is refused if the web role is a superuser or the owner. */
  allowPrivilegedRole: boolean;
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
  /** A sentence for each variable that is probably misspelt. */
  warnings: string[];
}

/**
 * Reads the configuration from environment variables; an empty variable counts as unset.
 * @throws OperatorError naming every bad variable, what it got (passwords hidden) and a good value; in production
 * also if a database password is an example's, short, or that of two roles.
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim() !== ""));
  const parsed = environment.safeParse(given);
  const bad = new Set(parsed.error?.issues.map((issue) => issue.path[0] as Variable));
  if (given.METRICS_PORT && Number(given.METRICS_PORT) === Number(given.PORT ?? 3000)) bad.add("METRICS_PORT");
  const complaints = complainOf(given, bad);
  const warnings = describeMisspelt(Object.keys(given));
  if (!parsed.success || complaints.length > 0) {
    const lines = [...complaints, ...warnings].map((line) => `  ${line}`);
    throw new OperatorError(`The configuration is not valid:\n${lines.join("\n")}`);
  }
  const values = parsed.data;
  return {
    host: values.HOST,
    port: values.PORT,
    publicUrl: values.PUBLIC_URL,
    hstsIncludeSubdomains: values.HSTS_INCLUDE_SUBDOMAINS,
    databaseUrl: values.DATABASE_URL,
    databaseOwnerUrl: values.DATABASE_OWNER_URL,
    databaseAdminUrl: values.DATABASE_ADMIN_URL,
    allowPrivilegedRole: values.ALLOW_PRIVILEGED_ROLE ?? given.NODE_ENV !== "production",
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
    warnings,
  };
}

/** Reads `.env` of the working directory, if there is one, and then the environment, which wins. */
export function loadConfig(): Config {
  for (const [name, value] of Object.entries(readEnvFile())) process.env[name] ??= value;
  return readConfig(process.env);
}
