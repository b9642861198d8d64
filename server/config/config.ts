// Reads and checks the configuration; nothing outside this folder reads process.env.
import { printableName, OperatorError } from "../operator-messages.ts";
import { checkDatabaseUrls } from "./database-urls.ts";
import { readEnvFile } from "./env-file.ts";
import { settingNames, settings, type Setting, type SettingName, type SettingValues } from "./settings.ts";

/** The value of each setting under its name in camel case, as databaseUrl for DATABASE_URL. */
export type Config = { [Name in SettingName as CamelCase<Name>]: SettingValues[Name] } & {
  allowPrivilegedRole: boolean;
};

type CamelCase<Name extends string> = Name extends `${infer Word}_${infer Rest}`
  ? `${Lowercase<Word>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name>;

/**
 * Reads the configuration from environment variables; an empty variable counts as unset.
 * @throws OperatorError naming every invalid variable with its value (secrets hidden) and an example. In production,
 * example passwords, short passwords and passwords shared by two roles are invalid.
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, text]) => text?.trim()));
  const isProduction = given.NODE_ENV === "production";
  const { values, errors } = parseSettings(given);
  if (values.METRICS_PORT && values.METRICS_PORT === values.PORT) {
    errors.push(describeInvalid("METRICS_PORT", given.METRICS_PORT, "another port than PORT"));
  }
  errors.push(...checkDatabaseUrls(given, values));
  errors.push(...checkMail(given));
  for (const [name, command] of Object.entries(refusedExamples)) {
    if (isProduction && given[name] === settings[name as SettingName].example) {
      errors.push(`${name} is the example, which everybody can read; make one with: openssl ${command}`);
    }
  }
  if (errors.length > 0) {
    throw new OperatorError(`The configuration is not valid:\n${errors.map((line) => `  ${line}`).join("\n")}`);
  }
  values.ALLOW_PRIVILEGED_ROLE ??= !isProduction;
  const config = Object.entries(values).map(([name, value]) => [toCamelCase(name), value]);
  return Object.fromEntries(config) as Config;
}

/** Secrets that production refuses if they are the example, and the arguments of openssl that make one. */
const refusedExamples = { NOTIFY_WEBHOOK_SECRET: "rand -base64 32", ERASURE_KEY: "rand -hex 32" };

/** Returns an error for each variable that is missing although another one requires it. */
function checkMail(given: NodeJS.Dict<string>): string[] {
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
    const { data, error } = settings[name].schema.safeParse(given[name]);
    if (error) errors.push(describeInvalid(name, given[name], error.issues[0]?.message));
    else values[name] = data;
  }
  return { values: values as Partial<SettingValues>, errors };
}

function describeInvalid(name: SettingName, text = "", rule = ""): string {
  const { example, secret }: Setting = settings[name];
  const shown = secret || text.includes("@") ? hideSecrets(text) : printableName(text);
  return `${name} is "${shown}" but must be ${rule}, for example ${name}=${example}`;
}

/** Shows a known protocol only: if a URL is invalid, its password may stand anywhere. */
function hideSecrets(text: string): string {
  const protocol = /^(?:postgres(?:ql)?|rediss?|https?|smtps?):\/\//.exec(text)?.[0] ?? "";
  return `${protocol}…`;
}

function toCamelCase(name: string): string {
  return name.toLowerCase().replace(/_(.)/g, (_match, letter: string) => letter.toUpperCase());
}

/** Reads `.env` of the working directory, if there is one, and then the environment, which wins. */
export function loadConfig(): Config {
  for (const [name, value] of Object.entries(readEnvFile())) process.env[name] ??= value;
  return readConfig(process.env);
}
