// Reads the configuration from the environment, .env and the files of secrets.
import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { OperatorError, printable } from "../errors.ts";
import { checkPasswords } from "./database-urls.ts";
import {
  settingNames,
  allSettings,
  type Config,
  type Setting,
  type SettingName,
  type SettingValues,
} from "./settings.ts";

/** Reads `.env` of the working directory, if there is one, and then the environment, which wins. */
export function loadConfig(): Config {
  for (const [name, value] of Object.entries(readEnvFile())) process.env[name] ??= value;
  return readConfig(process.env);
}

/**
 * Reads the configuration from environment variables, without white space at the ends; an empty variable counts as unset.
 * @throws OperatorError naming every invalid variable with its value (secrets hidden) and an example.
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const trimmed = Object.entries(env).map(([name, text = ""]) => [name, text.trim()] as const);
  const set = Object.fromEntries(trimmed.filter(([, text]) => text));
  const files = readSecretFiles(set);
  const given = { ...set, ...files.secrets };
  const isProduction = given.NODE_ENV === "production";
  const { values, errors } = parseSettings(given);
  errors.unshift(...files.errors);
  errors.push(...(isProduction ? checkPasswords(values) : []), ...checkPresence(given));
  const examples = settingNames.filter((name) => isSecret(name) && given[name] === allSettings[name].example);
  if (isProduction) errors.push(...examples.map((name) => `${name} is the example, which everybody can read`));
  if (errors.length > 0) {
    throw new OperatorError(`The configuration is not valid:\n${errors.map((line) => `  ${line}`).join("\n")}`);
  }
  const { ALLOW_PRIVILEGED_ROLE = !isProduction } = values;
  return { ...(values as SettingValues), ALLOW_PRIVILEGED_ROLE, isProduction };
}

/** Returns a sentence for each setting that is valid, but rarely meant in production. */
export function listWarnings({ isProduction, PUBLIC_URL, DATABASE_URL, DATABASE_OWNER_URL }: Config): string[] {
  const unset = "PUBLIC_URL is not set: links to the site name http://localhost";
  const risk = "DATABASE_OWNER_URL is set: whoever controls the site's process could read the list";
  const hasOwner = DATABASE_OWNER_URL && DATABASE_OWNER_URL !== DATABASE_URL;
  const warnings = [PUBLIC_URL ? "" : unset, hasOwner ? `${risk}. Set it for migrating only` : ""];
  return isProduction ? warnings.filter(Boolean) : [];
}

/** Returns a copy of this process's environment without secrets, for child processes. */
export function childEnvironment(): NodeJS.ProcessEnv {
  const environment = { ...process.env };
  for (const name of settingNames) if (isSecret(name)) delete environment[name];
  return environment;
}

const isSecret = (name: SettingName) => Boolean((allSettings[name] as Setting).secret);

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
      secrets[name] = readFileSync(path, "utf8").trim();
    } catch (error) {
      const rule = `the path of a file that can be read (${(error as NodeJS.ErrnoException).code})`;
      errors.push(describeInvalid(variable, showValue(path), rule, `/run/secrets/${name.toLowerCase()}`));
    }
  }
  return { secrets, errors };
}

function checkPresence(given: NodeJS.Dict<string>): string[] {
  const needed: [SettingName, SettingName][] = [
    ["SMTP_URL", "MAIL_FROM"],
    ["MAIL_FROM", "PUBLIC_URL"],
    ["UNCONFIRMED_DAYS", "MAIL_FROM"],
  ];
  const isOn = (name: SettingName) => given[name] && given[name] !== "0";
  return needed.flatMap(([name, other]) =>
    isOn(name) && !given[other]
      ? `${other} is not set, but ${name} needs it, for example ${other}=${allSettings[other].example}`
      : [],
  );
}

function parseSettings(given: NodeJS.Dict<string>): { values: Partial<SettingValues>; errors: string[] } {
  const values: Partial<Record<SettingName, unknown>> = {};
  const errors: string[] = [];
  for (const name of settingNames) {
    const { schema, example } = allSettings[name];
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

/** Of a secret or a URL with a login, shows only a known protocol: if it is invalid, its password may stand anywhere. */
function showValue(text = "", secret = false): string {
  if (!secret && !text.includes("@")) return printable(text);
  const protocol = /^(?:postgres(?:ql)?|https?|smtps?):\/\//.exec(text)?.[0] ?? "";
  return `${protocol}…`;
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
