import { describe, expect, it } from "vitest";
import { OperatorError } from "../operator-messages.ts";
import { readConfig } from "./config.ts";
import { settingNames, settings } from "./settings.ts";

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
    ["NOTIFY_WEBHOOK_URL", "ftp://hunter2.example/", "…"],
    ["DATABASE_URL", "hunter2:x@h", "…"],
    ["PUBLIC_URL", "https://u:hunter2@h.example", "https://…"],
    ["NOTIFY_WEBHOOK_SECRET", "hunter2", "…"],
  ])("hides the secret in %s=%s", (name, text, shown) => {
    const error = errorOf({ [name]: text });
    expect(error).toContain(`${name} is "${shown}" but must be `);
    expect(error).not.toContain("hunter2");
  });

  it("shows an invalid value without control characters, cut after 100 characters", () => {
    const shown = `HOST is "?[2J?${"x".repeat(95)}…" but must`;
    expect(errorOf({ HOST: `\u001B[2J\n${"x".repeat(200)}` })).toContain(shown);
  });

  it.each([{}, { PORT: "9464" }, { PORT: "09464" }])("rejects METRICS_PORT if it is the port of %j", (env) => {
    expect(errorOf({ METRICS_PORT: env.PORT ?? "3000", ...env })).toContain("METRICS_PORT is");
    expect(readConfig({ METRICS_PORT: "9465", ...env }).metricsPort).toBe(9465);
  });

  it.each([
    [{}, true],
    [{ NODE_ENV: "production" }, false],
    [{ NODE_ENV: "production", ALLOW_PRIVILEGED_ROLE: "true" }, true],
    [{ ALLOW_PRIVILEGED_ROLE: "false" }, false],
  ])("with %j sets allowPrivilegedRole to %s", (env, allowed) => {
    expect(readConfig(env).allowPrivilegedRole).toBe(allowed);
  });

  it("rejects a weak database password in production", () => {
    expect(readConfig({ DATABASE_URL: url }).databaseUrl).toBe(url);
    expect(errorOf({ DATABASE_URL: url, NODE_ENV: "production" })).toContain(
      "DATABASE_URL has the password of an example",
    );
  });

  it("rejects the example of NOTIFY_WEBHOOK_SECRET in production", () => {
    const { example } = settings.NOTIFY_WEBHOOK_SECRET;
    const env = { NOTIFY_WEBHOOK_SECRET: example };
    expect(readConfig(env).notifyWebhookSecret).toBe(example);
    expect(errorOf({ ...env, NODE_ENV: "production" })).toContain("NOTIFY_WEBHOOK_SECRET is the example");
  });
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
