// The configuration: the rule of each setting, how values are read, and what the messages show.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readConfig, settingNames, settings } from "./config.ts";
import { OperatorError } from "./operator-messages.ts";
import { projectRoot } from "./project-root.ts";

type SettingName = keyof typeof settings;

const url = "postgresql://web:secret@db.example/perennial";

describe("readConfig", () => {
  it("uses the default of each variable that is unset or empty", () => {
    const config = readConfig({ PORT: "", DATABASE_URL: " " });
    expect(config).toEqual(readConfig({}));
    expect(config).toMatchObject({ host: "127.0.0.1", port: 3000, databaseUrl: undefined });
  });

  it("returns each value under its name in camel case", () => {
    const env = { PORT: "8080", SIGNUP_WINDOW_SECONDS: "60", DATABASE_URL: url, UNRELATED: "x" };
    const config = readConfig(env);
    expect(config).toMatchObject({ port: 8080, signupWindowSeconds: 60, databaseUrl: url });
    expect(config).not.toHaveProperty("unrelated");
  });

  it("names every invalid variable in one message, with its value, its rule and an example", () => {
    // "not valid" is a line, as CONTROLLER may be.
    const env = { ...Object.fromEntries(settingNames.map((name) => [name, "not valid"])), CONTROLLER: "not\nvalid" };
    const [, ...lines] = errorOf(env).split("\n");
    const pattern = (name: string) => `^  ${name} is "(not.valid|…)" but must be \\S.*, for example ${name}=\\S.*$`;
    expect(lines).toEqual(settingNames.map((name) => expect.stringMatching(pattern(name))));
    expect(lines).toContain('  PORT is "not valid" but must be a whole number from 0 to 65535, for example PORT=3000');
  });

  it.each([
    ["DATABASE_URL", "mysql://root:hunter2@db/x", "…"],
    ["DATABASE_URL", "host=db user=web password=hunter2", "…"],
    ["DATABASE_URL", "postgresql://web:hunter2", "postgresql://…"],
    ["DATABASE_URL", "postgres://db/x?user=web&password=hunter2", "postgres://…"],
    ["DATABASE_URL", "postgresql://web:hunter2%@db/x", "postgresql://…"],
    ["DATABASE_URL", "postgresql://web:hunter2%ff@db/x", "postgresql://…"],
    ["DATABASE_URL", "postgresql:/web:hunter2@db/x", "…"],
    ["REDIS_URL", "http://:hunter2@cache", "http://…"],
    ["WEBHOOK_URL", "ftp://hunter2.example/", "…"],
    ["DATABASE_URL", "hunter2:x@h", "…"],
    ["PUBLIC_URL", "https://u:hunter2@h.example", "https://…"],
    ["WEBHOOK_SECRET", "hunter2", "…"],
  ])("hides the secret in %s=%s", (name, text, shown) => {
    const error = errorOf({ [name]: text });
    expect(error).toContain(`${name} is "${shown}" but must be `);
    expect(error).not.toContain("hunter2");
  });

  it("shows an invalid value without control characters, cut after 100 characters", () => {
    const shown = `HOST is "?[2J?${"x".repeat(95)}…" but must`;
    expect(errorOf({ HOST: `\u001B[2J\n${"x".repeat(200)}` })).toContain(shown);
  });

  it.each([
    [{}, true],
    [{ NODE_ENV: "production" }, false],
    [{ NODE_ENV: "production", ALLOW_PRIVILEGED_ROLE: "true" }, true],
    [{ ALLOW_PRIVILEGED_ROLE: "false" }, false],
  ])("with %j sets allowPrivilegedRole to %s", (env, allowed) => {
    expect(readConfig(env).allowPrivilegedRole).toBe(allowed);
  });

  it("rejects the example of WEBHOOK_SECRET in production", () => {
    const { example } = settings.WEBHOOK_SECRET;
    const env = { WEBHOOK_SECRET: example };
    expect(readConfig(env).webhookSecret).toBe(example);
    expect(errorOf({ ...env, NODE_ENV: "production" })).toContain("WEBHOOK_SECRET is the example");
  });
});

describe("NAME_FILE", () => {
  const path = (name: string) => {
    const folder = mkdtempSync(join(tmpdir(), "perennial-secret-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    return join(folder, name);
  };

  it.each(settingNames.filter((name) => "secret" in settings[name]))("holds the path of %s's value", (name) => {
    const { example } = settings[name];
    const file = path("value");
    writeFileSync(file, `${example}\n`);
    const base = {
      MAIL_FROM: "a@b.example",
      PUBLIC_URL: "https://b.example",
      DATABASE_URL: url,
      ERASURE_KEY: "k".repeat(32),
    };
    const others = { ...base, [name]: undefined };
    expect(readConfig({ ...others, [`${name}_FILE`]: file })).toEqual(readConfig({ ...others, [name]: example }));
  });

  it("beside NAME, names a file that cannot be read, or an empty one, is an error", () => {
    const missing = path("missing");
    expect(errorOf({ DATABASE_URL_FILE: missing })).toContain(
      `DATABASE_URL_FILE is "${missing}" but must be the path of a file that can be read (ENOENT), for example DATABASE_URL_FILE=/run/secrets/database_url`,
    );
    const empty = path("empty");
    writeFileSync(empty, "\n");
    expect(errorOf({ REDIS_URL_FILE: empty })).toContain('REDIS_URL is "…" but must be a redis:// or rediss:// URL');
    writeFileSync(empty, url);
    expect(errorOf({ DATABASE_URL: url, DATABASE_URL_FILE: empty })).toContain(
      "DATABASE_URL and DATABASE_URL_FILE are both set; unset one of them",
    );
  });

  it("that holds a URL instead of a path is not shown", () => {
    const error = errorOf({ DATABASE_URL_FILE: "postgresql://web:hunter2@db/x" });
    expect(error).toContain('DATABASE_URL_FILE is "postgresql://…"');
    expect(error).not.toContain("hunter2");
  });
});

it.each(settingNames)("the configuration accepts the example of %s", (name) => {
  expect(settings[name].schema.safeParse(settings[name].example)).toMatchObject({ success: true });
});

it.each<[SettingName, string, unknown]>([
  ["HOST", "::", "::"],
  ["PORT", "0", 0],
  ["PUBLIC_URL", "https://perennial.example/", "https://perennial.example"],
  ["HSTS_INCLUDE_SUBDOMAINS", "true", true],
  ["ALLOW_INDEXING", "false", false],
  ["SIGNUP_HOURLY_CEILING", "0", 0],
  ["WAITLIST", "closed", "closed"],
  ["WAITLIST_CLOSES", "2026-12-31", new Date("2027-01-01T00:00:00Z")],
  ["WAITLIST_CLOSES", "2026-12-31T18:00+01:00", new Date("2026-12-31T17:00:00Z")],
  ["WAITLIST_CLOSES", "2026-12-31T18:00:30Z", new Date("2026-12-31T18:00:30Z")],
  ["REDIS_URL", "rediss://user:secret@cache.example:6380/1", "rediss://user:secret@cache.example:6380/1"],
  ["LOG_LEVEL", "warn", "warn"],
  // As node-postgres reads these, so that it need not warn.
  ["DATABASE_URL", `${url}?sslmode=require`, `${url}?sslmode=verify-full`],
  ["DATABASE_URL", `${url}?a=b&sslmode=prefer&c=d`, `${url}?a=b&sslmode=verify-full&c=d`],
  ["DATABASE_URL", `${url}?sslmode=no-verify`, `${url}?sslmode=no-verify`],
  ["DATABASE_URL", `${url}?uselibpqcompat=true&sslmode=require`, `${url}?uselibpqcompat=true&sslmode=require`],
  ["CONTROLLER", " Perennial Inc., 1 Garden Way ", "Perennial Inc., 1 Garden Way"],
  ["CONTACT_EMAIL", "privacy@perennial.example", "privacy@perennial.example"],
  [
    "LEGAL_LINKS",
    "Imprint=https://a.example/x?y=z , Terms = https://b.example",
    [
      { label: "Imprint", url: "https://a.example/x?y=z" },
      { label: "Terms", url: "https://b.example" },
    ],
  ],
])("the configuration reads %s=%s as %j", (name, text, value) => {
  expect(settings[name].schema.parse(text)).toEqual(value);
});

it.each<[SettingName, string[]]>([
  ["HOST", ["not a host", "-host"]],
  ["PORT", ["65536", "1e3", "0x10", "3000.5", " 3000", "³"]],
  [
    "PUBLIC_URL",
    ["a.example", "https://a.example/x", "https://a.example?x", "ftp://a.example", "https://me@a.example"],
  ],
  ["HSTS_INCLUDE_SUBDOMAINS", ["1", "yes"]],
  ["DATABASE_URL", ["mysql://root:secret@db/x", "postgresql://db/x", "postgresql://web@db", "postgresql://web:%@db/x"]],
  ["TRUST_PROXY", ["true", "33"]],
  ["SIGNUP_LIMIT", ["0"]],
  ["SIGNUP_WINDOW_SECONDS", ["-1", "86401"]],
  ["SIGNUP_HOURLY_CEILING", ["none"]],
  ["WAITLIST", ["yes", "Closed"]],
  [
    "WAITLIST_CLOSES",
    ["2026-02-30", "2026-02-30T10:00Z", "31.12.2026", "2026-12-31T18:00", "2026-12-31T25:00Z", "2026-12-31T18:00+0100"],
  ],
  ["REDIS_URL", ["http://cache", "redis://"]],
  ["METRICS_PORT", ["0"]],
  ["WEBHOOK_URL", ["ftp://hooks.example/", "https://user@hooks.example/"]],
  ["WEBHOOK_SECRET", ["secret", "whsec_", `whsec_${Buffer.alloc(23).toString("base64")}`]],
  ["CONTROLLER", ["x".repeat(301), "Perennial\nInc."]],
  ["CONTACT_EMAIL", ["privacy", "a@b", "mailto:a@b.co", "a@b.co, c@d.co"]],
  ["LEGAL_LINKS", ["https://a.example", "Imprint=http://a.example", "Imprint=javascript:x", "=https://a.example", ","]],
  ["LOG_LEVEL", ["loud"]],
])("the configuration rejects %s=%j", (name, texts) => {
  const accepted = texts.filter((text) => settings[name].schema.safeParse(text).success);
  expect(accepted).toEqual([]);
});

it("the configuration marks each URL except PUBLIC_URL, and each secret, as secret", () => {
  const isSecret = (name: SettingName) => /_(URL|SECRET|PASSWORD|KEY|TOKEN)$/.test(name) && name !== "PUBLIC_URL";
  expect(settingNames.filter((name) => "secret" in settings[name])).toEqual(settingNames.filter(isSecret));
});

/** No setting with a list has a default. */
type Default = string | number | boolean | undefined;
const defaults = settingNames.map((name) => [name, settings[name].schema.parse(undefined) as Default] as const);

it("docs/configuration.md lists every setting with its default", () => {
  const rows = readProjectFile("docs/configuration.md").matchAll(/^\| `([A-Z_]+)` +\| (.+?) +\|/gm);
  const expected = defaults.map(([name, value]) => [name, value === undefined ? expect.any(String) : `\`${value}\``]);
  expect(Object.fromEntries(Array.from(rows, ([, name, cell]) => [name, cell]))).toEqual(Object.fromEntries(expected));
});

it.each(defaults)(".env.example has a commented-out line for %s with its default, %s", (name, value) => {
  const lines = readProjectFile(".env.example").split("\n");
  expect(lines).toContainEqual(value === undefined ? expect.stringMatching(`^# ${name}=.`) : `# ${name}=${value}`);
});

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
