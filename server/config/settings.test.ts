import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectRoot } from "../project-root.ts";
import { settingNames, settings, type SettingName } from "./settings.ts";

const url = "postgresql://web:secret@db.example/perennial";

it.each(settingNames)("accepts the example of %s", (name) => {
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
])("reads %s=%s as %j", (name, text, value) => {
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
  ["NOTIFY_WEBHOOK_URL", ["ftp://hooks.example/", "https://user@hooks.example/"]],
  ["NOTIFY_WEBHOOK_SECRET", ["secret", "whsec_", `whsec_${Buffer.alloc(23).toString("base64")}`]],
  ["CONTROLLER", ["x".repeat(301), "Perennial\nInc."]],
  ["CONTACT_EMAIL", ["privacy", "a@b", "mailto:a@b.co", "a@b.co, c@d.co"]],
  ["LEGAL_LINKS", ["https://a.example", "Imprint=http://a.example", "Imprint=javascript:x", "=https://a.example", ","]],
  ["LOG_LEVEL", ["loud"]],
])("rejects %s=%j", (name, texts) => {
  const accepted = texts.filter((text) => settings[name].schema.safeParse(text).success);
  expect(accepted).toEqual([]);
});

it("marks each URL except PUBLIC_URL, and each secret, as secret", () => {
  const isSecret = (name: SettingName) => /_(URL|SECRET|PASSWORD|KEY|TOKEN)$/.test(name) && name !== "PUBLIC_URL";
  expect(settingNames.filter((name) => "secret" in settings[name])).toEqual(settingNames.filter(isSecret));
});

/** No setting with a list has a default. */
type Default = string | number | boolean | undefined;
const defaults = settingNames.map((name) => [name, settings[name].schema.parse(undefined) as Default] as const);

it("README.md lists every setting with its default", () => {
  const rows = readProjectFile("README.md").matchAll(/^\| `([A-Z_]+)` +\| (.+?) +\|/gm);
  const expected = defaults.map(([name, value]) => [name, value === undefined ? expect.any(String) : `\`${value}\``]);
  expect(Object.fromEntries(Array.from(rows, ([, name, cell]) => [name, cell]))).toEqual(Object.fromEntries(expected));
});

it.each(defaults)(".env.example has a commented-out line for %s with its default, %s", (name, value) => {
  const lines = readProjectFile(".env.example").split("\n");
  expect(lines).toContainEqual(value === undefined ? expect.stringMatching(`^# ${name}=.`) : `# ${name}=${value}`);
});

function readProjectFile(name: string): string {
  return readFileSync(join(projectRoot, name), "utf8");
}
