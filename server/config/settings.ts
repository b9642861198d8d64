// The table of settings: each with its rule, default and example. docs/configuration.md says what each is for.
// What has no setting: the time limits of a request (time-limits.ts), the times that the pages promise (client/shared/promised-times.ts),
// and the 600 mails a day (models/operators/confirmation-pace.ts).
// How a value is read: rules.ts.
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

export const allSettings = {
  HOST: { schema: rules.host.default("127.0.0.1"), example: "127.0.0.1" },
  PORT: { schema: rules.wholeNumber(0, 65_535).default(3000), example: "3000" },
  /** If unset, http://localhost with PORT. */
  PUBLIC_URL: { schema: rules.originUrl.optional(), example: "https://perennial.example" },
  /** If no URL is set, the embedded Postgres. */
  DATABASE_URL: databaseUrl("DATABASE_URL"),
  /** If unset, DATABASE_URL. */
  DATABASE_OWNER_URL: databaseUrl("DATABASE_OWNER_URL"),
  DATABASE_ADMIN_URL: databaseUrl("DATABASE_ADMIN_URL"),
  /** If unset, false in production only. */
  ALLOW_PRIVILEGED_ROLE: { schema: rules.trueOrFalse.optional(), example: "true" },
  TRUST_PROXY: { schema: rules.wholeNumber(0, 32, "proxies in front").default(0), example: "1" },
  WAITLIST: { schema: z.enum(["open", "closed"], "open or closed").default("open"), example: "closed" },
  SIGNUP_LIMIT: { schema: rules.wholeNumber(1, 1_000_000).default(30), example: "30" },
  CONTROLLER: { schema: rules.printableLine.optional(), example: "Perennial Inc., 1 Garden Way, 12345 Springfield" },
  CONTACT_EMAIL: { schema: z.email("an email address").optional(), example: "privacy@perennial.example" },
  RECIPIENTS: { schema: rules.printableLine.optional(), example: "Hosting Ltd. (Ireland) runs our server." },
  LEGAL_LINKS: { schema: rules.legalLinks.optional(), example: "Imprint=https://perennial.example/imprint" },
  RETENTION_MONTHS: { schema: rules.wholeNumber(0, 1_200, "months (0: no limit)").default(0), example: "24" },
  UNCONFIRMED_DAYS: { schema: rules.unconfirmedDays.default(0), example: "14" },
  /** Switches on confirmation mails, in place of the undo button, and mailings. */
  MAIL_FROM: { schema: rules.mailFrom.optional(), example: "Perennial <hello@perennial.example>" },
  SMTP_URL: { schema: rules.mailServerUrl.optional(), example: "smtp://user:secret@mail.example:587", secret: true },
  ALLOW_INDEXING: { schema: rules.trueOrFalse.default(true), example: "false" },
  WEBHOOK_URL: { schema: rules.webhookUrl.optional(), example: "https://hooks.example/T0/B0/x", secret: true },
  WEBHOOK_SECRET: {
    schema: rules.webhookSecret.optional(),
    example: "whsec_QW4gZXhhbXBsZSwgd2hpY2ggaXMgcmVmdXNlZC4=",
    secret: true,
  },
  /** If unset, the owner's URL. */
  WORKER_DATABASE_URL: databaseUrl("WORKER_DATABASE_URL"),
  LOG_LEVEL: { schema: z.enum(logLevels, `one of ${logLevels.join(", ")}`).default("info"), example: "info" },
} satisfies Record<string, Setting>;

export type SettingName = keyof typeof allSettings;
export type SettingValues = { [Name in SettingName]: z.infer<(typeof allSettings)[Name]["schema"]> };

export const settingNames = Object.keys(allSettings) as SettingName[];

export type Config = SettingValues & { ALLOW_PRIVILEGED_ROLE: boolean; isProduction: boolean };
