// The configuration: the rule of each setting, how values are read, and what the messages show.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { settingNames, allSettings } from "./settings.ts";
import { listWarnings, readConfig } from "./load-config.ts";
import { openDatabase } from "../database/open-database.ts";
import { OperatorError } from "../errors.ts";
import { projectRoot } from "./project-root.ts";

type SettingName = keyof typeof allSettings;

const secretNames = settingNames.filter((name) => "secret" in allSettings[name]);

const url = "postgresql://web:secret@db.example/perennial";

it("the configuration has the default of each unset or empty setting, the worker the owner's URL, the owner the site's, and the site none", async () => {
  const config = readConfig({ PORT: "", DATABASE_URL: " " });
  expect(config).toEqual(readConfig({}));
  expect(config).toMatchObject({ HOST: "127.0.0.1", PORT: 3000, DATABASE_URL: undefined });
  const env = { DATABASE_URL: url, DATABASE_OWNER_URL: url.replace("web", "owner"), RETENTION_MONTHS: "1" };
  const { worker } = await openDatabase(readConfig(env), "DATABASE_URL");
  expect(worker?.url).toBe(env.DATABASE_OWNER_URL);
  const owned = await openDatabase(readConfig({ DATABASE_URL: url }), "DATABASE_OWNER_URL");
  expect(owned.ownerUrl).toBe(url);
  await expect(openDatabase(readConfig({ DATABASE_OWNER_URL: url }), "DATABASE_URL")).rejects.toMatchObject({
    message:
      "DATABASE_URL is not set. Set it, for example DATABASE_URL=postgresql://perennial_web:secret@db.example:5432/perennial",
  });
  const days = { ...complete, WEBHOOK_URL: "", UNCONFIRMED_DAYS: "14" };
  expect((await openDatabase(readConfig(days), "DATABASE_URL")).worker?.tasks).toEqual(["mail", "purge"]);
  expect((await openDatabase(readConfig({ ...days, UNCONFIRMED_DAYS: "0" }), "DATABASE_URL")).worker?.tasks).toEqual([
    "mail",
  ]);
});

it("the configuration reads each setting without white space at its ends", () => {
  const env = Object.fromEntries(settingNames.map((name) => [name, allSettings[name].example]));
  const padded = Object.entries(env).map(([name, text]) => [name, ` ${text}\r\n`]);
  expect(readConfig(Object.fromEntries(padded))).toEqual(readConfig(env));
});

const postgresUrl = (variable: string) =>
  `a Postgres URL with user and database, special characters in the password percent-encoded (docker compose: ${variable} with letters, digits, - and _ only)`;
/** What completes the sentence "NAME must be …". */
const rules: Record<SettingName, string> = {
  HOST: "an IP address or host name to listen on",
  PORT: "a whole number from 0 to 65535",
  PUBLIC_URL: "the site's http or https origin, without a path (docker compose: DOMAIN is a host name alone)",
  DATABASE_URL: postgresUrl("WEB_PASSWORD"),
  DATABASE_OWNER_URL: postgresUrl("OWNER_PASSWORD"),
  DATABASE_ADMIN_URL: postgresUrl("ADMIN_PASSWORD"),
  ALLOW_PRIVILEGED_ROLE: "true or false",
  TRUST_PROXY: "a whole number of proxies in front from 0 to 32",
  WAITLIST: "open or closed",
  SIGNUP_LIMIT: "a whole number from 1 to 1000000",
  CONTROLLER: "one line of at most 1,000 characters",
  CONTACT_EMAIL: "an email address",
  RECIPIENTS: "one line of at most 1,000 characters",
  LEGAL_LINKS: "Label=https://… pairs, separated by commas",
  RETENTION_MONTHS: "a whole number of months (0: no limit) from 0 to 1200",
  UNCONFIRMED_DAYS: "0 (keeps them) or a whole number of days from 7 to 365",
  MAIL_FROM:
    "an email address, or a name and an address in <>; the name without quotes, commas and other special characters",
  SMTP_URL:
    "an smtp:// or smtps:// URL (port 465: smtps, 25 and 587: smtp), special characters in the password percent-encoded",
  ALLOW_INDEXING: "true or false",
  WEBHOOK_URL: "an http or https URL without user and password",
  WEBHOOK_SECRET: '"whsec_" and 24 to 64 bytes as base64, from: openssl rand -base64 32',
  WORKER_DATABASE_URL: postgresUrl("WORKER_PASSWORD"),
  LOG_LEVEL: "one of fatal, error, warn, info, debug, trace, silent",
};

it("the configuration names every invalid setting in one message, with its value, its rule and an example", () => {
  // Two lines, because CONTROLLER and RECIPIENTS may be any line.
  const env = Object.fromEntries(settingNames.map((name) => [name, "not\nvalid"]));
  const shown = (name: SettingName) => (secretNames.includes(name) ? "…" : "not?valid");
  const lines = settingNames.map(
    (name) =>
      `  ${name} is "${shown(name)}" but must be ${rules[name]}, for example ${name}=${allSettings[name].example}`,
  );
  expect(errorOf(env)).toBe(["The configuration is not valid:", ...lines].join("\n"));
});

it.each([
  ["DATABASE_URL", "mysql://root:hunter2@db/x", "…"],
  ["DATABASE_URL", "host=db user=web password=hunter2", "…"],
  ["DATABASE_URL", "postgresql://web:hunter2%@db/x", "postgresql://…"],
  ["PUBLIC_URL", "https://u:hunter2@h.example", "https://…"],
  ["SMTP_URL", "smtps://:hunter2@mail.example", "smtps://…"],
  ["WEBHOOK_SECRET", "hunter2", "…"],
])("the configuration hides the secret in %s=%s", (name, text, shown) => {
  const error = errorOf({ [name]: text });
  expect(error).toContain(`${name} is "${shown}" but must be `);
  expect(error).not.toContain("hunter2");
});

it.each(secretNames)("the configuration rejects the example of %s in production", (name) => {
  const lines = errorOf({ [name]: allSettings[name].example, NODE_ENV: "production" }).split("\n");
  expect(lines).toContain(`  ${name} is the example, which everybody can read`);
});

const complete = {
  PORT: "1",
  DATABASE_URL: url,
  MAIL_FROM: "a@b.co",
  PUBLIC_URL: "https://b.co",
  WEBHOOK_URL: "https://b.co",
};
const sender = "MAIL_FROM=Perennial <hello@perennial.example>";
it.each<[rule: string, env: NodeJS.ProcessEnv]>([
  [`MAIL_FROM is not set, but SMTP_URL needs it, for example ${sender}`, { SMTP_URL: "smtp://b.co" }],
  [`MAIL_FROM is not set, but UNCONFIRMED_DAYS needs it, for example ${sender}`, { UNCONFIRMED_DAYS: "14" }],
  [
    "PUBLIC_URL is not set, but MAIL_FROM needs it, for example PUBLIC_URL=https://perennial.example",
    { MAIL_FROM: "a@b.co" },
  ],
])("the configuration says: %s", (rule, env) => {
  expect(errorOf(env)).toBe(`The configuration is not valid:\n  ${rule}`);
  expect(readConfig({ ...env, ...complete })).toMatchObject({ isProduction: false, ALLOW_PRIVILEGED_ROLE: true });
});

const isUnset = "PUBLIC_URL is not set: links to the site name http://localhost";
const isSet =
  "DATABASE_OWNER_URL is set: whoever controls the site's process could read the list. Set it for migrating only";
const production = { NODE_ENV: "production", DATABASE_URL: url.replace("secret", "a-password-of-32-characters-here") };
it.each<[NodeJS.ProcessEnv, string[]]>([
  [{ ...production, PUBLIC_URL: allSettings.PUBLIC_URL.example, DATABASE_OWNER_URL: production.DATABASE_URL }, []],
  [{ ...production, DATABASE_OWNER_URL: "postgres://owner@db/x" }, [isUnset, isSet]],
  [{ ...production, NODE_ENV: "", DATABASE_OWNER_URL: "postgres://owner@db/x" }, []],
])("the configuration warns of what is rarely meant in production: %j", (env, warnings) => {
  expect(listWarnings(readConfig(env))).toEqual(warnings);
});

it("the configuration reads a secret from the file that NAME_FILE names", () => {
  const folder = mkdtempSync(join(tmpdir(), "perennial-secret-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [file, missing] = [join(folder, "value"), join(folder, "missing")];
  writeFileSync(file, `${url}\r\n`);
  expect(readConfig({ DATABASE_URL_FILE: file, HOST_FILE: missing }).DATABASE_URL).toBe(url);
  const unreadable = (shown: string) =>
    `DATABASE_URL_FILE is "${shown}" but must be the path of a file that can be read (ENOENT), for example DATABASE_URL_FILE=/run/secrets/database_url`;
  for (const [env, message] of [
    [
      { DATABASE_URL: url, DATABASE_URL_FILE: file },
      "DATABASE_URL and DATABASE_URL_FILE are both set; unset one of them",
    ],
    [{ DATABASE_URL_FILE: missing }, unreadable(missing)],
    [{ DATABASE_URL_FILE: url }, unreadable("postgresql://…")],
  ] as const) {
    expect(errorOf(env)).toBe(`The configuration is not valid:\n  ${message}`);
  }
});

it.each<[SettingName, string, unknown]>([
  ["PORT", "65535", 65_535],
  ["PUBLIC_URL", "https://Perennial.example:443/", "https://perennial.example"],
  ["PUBLIC_URL", "http://münchen.example:8080", "http://xn--mnchen-3ya.example:8080"],
  ["PORT", "0", 0],
  ["HOST", "::", "::"],
  ["TRUST_PROXY", "32", 32],
  ["SIGNUP_LIMIT", "1000000", 1_000_000],
  ["RETENTION_MONTHS", "1200", 1_200],
  ["UNCONFIRMED_DAYS", "0", 0],
  ["UNCONFIRMED_DAYS", "7", 7],
  ["UNCONFIRMED_DAYS", "365", 365],
  ["ALLOW_INDEXING", "false", false],
  ...[24, 64].map((bytes): [SettingName, string, string] => ["WEBHOOK_SECRET", secretOf(bytes), secretOf(bytes)]),
  ["SMTP_URL", "smtps://mail.example/", "smtps://mail.example/"],
  ["WEBHOOK_URL", "http://hooks.example/", "http://hooks.example/"],
  ["CONTROLLER", "x".repeat(1_000), "x".repeat(1_000)],
  ["MAIL_FROM", "Ada L. < a@b.co >", { name: "Ada L.", address: "a@b.co" }],
  ["MAIL_FROM", "a@b.co", { name: "", address: "a@b.co" }],
  // As node-postgres reads these, so that it need not warn.
  ["DATABASE_URL", `${url}?sslmode=require`, `${url}?sslmode=verify-full`],
  ["DATABASE_URL", `${url}?sslmode=verify-ca`, `${url}?sslmode=verify-full`],
  ["DATABASE_URL", `${url}?x=1&sslmode=prefer&y=2`, `${url}?x=1&sslmode=verify-full&y=2`],
  ["DATABASE_URL", `${url}?sslmode=verify-ca&uselibpqcompat=true`, `${url}?sslmode=verify-ca&uselibpqcompat=true`],
  ["DATABASE_URL", `${url}?sslmode=no-verify`, `${url}?sslmode=no-verify`],
  [
    "LEGAL_LINKS",
    "Imprint=https://a.example/x?y=z , Terms = https://b.example",
    [
      { label: "Imprint", url: "https://a.example/x?y=z" },
      { label: "Terms", url: "https://b.example" },
    ],
  ],
])("the configuration reads %s=%s as %j", (name, text, value) => {
  expect(allSettings[name].schema.parse(text)).toEqual(value);
});

it.each<[SettingName, string[]]>([
  ["PORT", ["65536", "1e3", "3000.5"]],
  ["PUBLIC_URL", ["a.example", "https://a.example/x", "ftp://a.example", "https://me@a.example"]],
  [
    "DATABASE_URL",
    ["mysql://me:secret@db/x", "postgres://db/x", "postgres://web@db/", "postgres://web:%@db/x", "postgres://web@db/%"],
  ],
  ["TRUST_PROXY", ["true", "33"]],
  ["SIGNUP_LIMIT", ["0", "1000001"]],
  ["RETENTION_MONTHS", ["1201"]],
  ["UNCONFIRMED_DAYS", ["1", "6", "366", "1000", "7.5", "-7", "14d"]],
  ["WEBHOOK_URL", ["ftp://hooks.example/", "https://user@hooks.example/", "https://:secret@hooks.example/"]],
  ["WEBHOOK_SECRET", ["secret", ...[23, 65].map(secretOf)]],
  ["CONTROLLER", ["x".repeat(1_001)]],
  [
    "SMTP_URL",
    [
      "ftp://b.co",
      "smtp://",
      "smtp://:pass@b.co",
      "smtp://b.co/x",
      "smtp://b.co?x",
      "smtp://u:%@b.co",
      "smtp://u@b.co",
      "smtp://b.co:465",
      "smtps://b.co:587",
      "smtps://b.co:25",
      "smtp://u:1#@b.co",
    ],
  ],
  ["MAIL_FROM", ['"Ada" <a@b.co>', "Ada, Bob <a@b.co>", "Ada <a>", "Ada <a@b.co> x", "<a@b.co>", "a@b.co, c@d.co"]],
  ["CONTACT_EMAIL", ["privacy", "mailto:a@b.co", "a@b.co, c@d.co"]],
  ["LEGAL_LINKS", ["https://a", "A=http://a.co", "A=javascript:x", "=https://a", "A=https://a b", "A=https://a, B"]],
])("the configuration rejects %s=%j", (name, texts) => {
  expect(texts.filter((text) => allSettings[name].schema.safeParse(text).success)).toEqual([]);
});

it("the configuration accepts every example, and marks each URL except PUBLIC_URL, and each secret, as secret", () => {
  const isRefused = (name: SettingName) => !allSettings[name].schema.safeParse(allSettings[name].example).success;
  expect(settingNames.filter(isRefused)).toEqual([]);
  const isSecret = (name: SettingName) => /_(URL|SECRET|PASSWORD|KEY|TOKEN)$/.test(name) && name !== "PUBLIC_URL";
  expect(secretNames).toEqual(settingNames.filter(isSecret));
});

/** No setting with a list has a default. */
type Default = string | number | boolean | undefined;
const defaults = settingNames.map((name) => [name, allSettings[name].schema.parse(undefined) as Default] as const);

it("docs/configuration.md lists every setting with its default", () => {
  const rows = readProjectFile("docs/configuration.md").matchAll(/^- `([A-Z_]+)` \((.+?)\): /gm);
  const expected = defaults.map(([name, value]) => [name, value === undefined ? expect.any(String) : `\`${value}\``]);
  const shown = Object.fromEntries(Array.from(rows, ([, name, cell]) => [name, cell]));
  expect(shown, "docs/configuration.md has a row: - `NAME` (`default`): …").toEqual(Object.fromEntries(expected));
});

it(".env.example shows the default of each setting, which may be set, or else its example, and no password", () => {
  const text = readProjectFile(".env.example");
  const expected = defaults.map(([name, value]) => [name, `${value ?? allSettings[name].example}`]);
  const shown = Array.from(text.matchAll(/^# ([A-Z_]+)='?(.*?)'?$/gm), ([, name, value]) => [name, value]);
  expect(Object.fromEntries(shown), ".env.example has a line: # NAME=…").toMatchObject(Object.fromEntries(expected));
  const set = defaults.filter(([, value]) => value !== undefined).map(([name, value]) => [name, `${value}`]);
  expect(readConfig(Object.fromEntries(set))).toEqual(readConfig({}));
  expect(text.match(/^.*_PASSWORD=.+$/gm)).toBeNull();
});

function secretOf(bytes: number): string {
  return `whsec_${Buffer.alloc(bytes, "+/aZ09bY", "base64").toString("base64")}`;
}

function errorOf(env: NodeJS.ProcessEnv): string {
  try {
    readConfig(env);
  } catch (error) {
    expect(error).toBeInstanceOf(OperatorError);
    return (error as Error).message;
  }
  throw new Error("The configuration was accepted");
}

function readProjectFile(name: string): string {
  return readFileSync(join(projectRoot, name), "utf8");
}
