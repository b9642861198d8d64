import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readConfig } from "./config.ts";
import { OperatorError } from "./operator-error.ts";
import { projectRoot } from "./project-root.ts";

const url = "postgresql://web:secret@db.example/perennial";

describe("readConfig", () => {
  it("has a default for everything", () => {
    expect(readConfig({})).toEqual({
      host: "127.0.0.1",
      port: 3000,
      publicUrl: undefined,
      hstsIncludeSubdomains: false,
      databaseUrl: undefined,
      databaseOwnerUrl: undefined,
      allowPrivilegedRole: true,
      trustProxy: 0,
      signupLimit: 10,
      signupWindowSeconds: 600,
      signupHourlyCeiling: 1000,
      redisUrl: undefined,
      allowIndexing: true,
      metricsPort: undefined,
      notifyWebhookUrl: undefined,
      notifyWebhookSecret: undefined,
      notifyDatabaseUrl: undefined,
      logLevel: "info",
      warnings: [],
    });
  });

  it("names misspelt variables beside bad ones, as one may be the reason for the other", () => {
    expect(complaint({ DATABASE_ULR: url, DATABASE_OWNER_URL: url })).toMatch(
      /DATABASE_URL is not set .*\n {2}DATABASE_ULR is set but/,
    );
  });

  it("takes an empty variable for an unset one", () => {
    expect(readConfig({ PORT: "", DATABASE_URL: " " })).toEqual(readConfig({}));
  });

  it("reads good values", () => {
    const config = readConfig({
      HOST: "::",
      PORT: "0",
      PUBLIC_URL: "https://perennial.example/",
      HSTS_INCLUDE_SUBDOMAINS: "true",
      DATABASE_URL: url,
      TRUST_PROXY: "2",
      SIGNUP_HOURLY_CEILING: "0",
      REDIS_URL: "rediss://user:secret@cache.example:6380/1",
      ALLOW_INDEXING: "false",
      METRICS_PORT: "9464",
      NOTIFY_WEBHOOK_URL: "https://hooks.example/T0/B0/x",
      NOTIFY_WEBHOOK_SECRET: `whsec_${Buffer.alloc(24).toString("base64")}`,
      NOTIFY_DATABASE_URL: "postgresql://notify:secret@db.example/perennial",
      LOG_LEVEL: "warn",
    });
    expect(config).toMatchObject({
      host: "::",
      port: 0,
      publicUrl: "https://perennial.example",
      hstsIncludeSubdomains: true,
      databaseUrl: url,
      trustProxy: 2,
      signupHourlyCeiling: 0,
      redisUrl: "rediss://user:secret@cache.example:6380/1",
      allowIndexing: false,
      metricsPort: 9464,
      notifyWebhookUrl: "https://hooks.example/T0/B0/x",
      notifyWebhookSecret: "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
      notifyDatabaseUrl: "postgresql://notify:secret@db.example/perennial",
      logLevel: "warn",
    });
  });

  it("names every bad variable in one message, with what it got and a good value", () => {
    const bad = {
      HOST: "not a host",
      PORT: "65536",
      PUBLIC_URL: "perennial.example/path",
      HSTS_INCLUDE_SUBDOMAINS: "1",
      DATABASE_URL: "mysql://root:hunter2@db/x",
      DATABASE_OWNER_URL: "nonsense",
      ALLOW_PRIVILEGED_ROLE: "yes",
      TRUST_PROXY: "true",
      SIGNUP_LIMIT: "0",
      SIGNUP_WINDOW_SECONDS: "-1",
      SIGNUP_HOURLY_CEILING: "none",
      REDIS_URL: "http://:hunter2@cache",
      ALLOW_INDEXING: "no",
      METRICS_PORT: "0",
      NOTIFY_WEBHOOK_URL: "ftp://hunter2.example/",
      NOTIFY_WEBHOOK_SECRET: "hunter2",
      NOTIFY_DATABASE_URL: "postgresql://db/x",
      LOG_LEVEL: "loud",
    };
    const shown: Record<string, string> = {
      DATABASE_URL: "mysql://…",
      DATABASE_OWNER_URL: "…",
      REDIS_URL: "http://…",
      NOTIFY_WEBHOOK_URL: "ftp://…",
      NOTIFY_WEBHOOK_SECRET: "…",
      NOTIFY_DATABASE_URL: "postgresql://…",
    };
    const message = complaint(bad);
    for (const [name, value] of Object.entries(bad)) {
      expect(message).toContain(`${name} is "${shown[name] ?? value}" but must be `);
      expect(message).toMatch(new RegExp(`for example ${name}=\\S`));
    }
    expect(message).not.toContain("hunter2");
  });

  it("prints a bad value without control characters, cut after 100 characters", () => {
    expect(complaint({ HOST: `\u001B[2J\n${"x".repeat(200)}` })).toContain(
      `HOST is "?[2J?${"x".repeat(95)}…" but must`,
    );
  });

  it.each(["1e3", "0x10", "3000.5", " 3000", "³"])("refuses %j as a port", (PORT) => {
    expect(complaint({ PORT })).toContain("PORT is");
  });

  it.each([{}, { PORT: "9464" }, { PORT: "09464" }])("refuses the site's own port for the metrics: %j", (env) => {
    expect(complaint({ METRICS_PORT: env.PORT ?? "3000", ...env })).toContain("METRICS_PORT is");
    expect(readConfig({ METRICS_PORT: "9465", ...env }).metricsPort).toBe(9465);
  });

  it.each(["https://a.example/x", "https://a.example?x", "ftp://a.example", "https://user@a.example"])(
    "refuses %s as the public URL",
    (PUBLIC_URL) => {
      expect(complaint({ PUBLIC_URL })).toContain("PUBLIC_URL is");
    },
  );

  it.each([
    "host=db user=web password=hunter2",
    "postgresql://web:hunter2",
    "postgres://db/x?user=web&password=hunter2",
    "postgresql://web:hunter2%@db/x",
    "postgresql://web:hunter2%ff@db/x",
    "postgresql:/web:hunter2@db/x",
  ])("never repeats the password in %s", (DATABASE_URL) => {
    expect(complaint({ DATABASE_URL })).toContain("DATABASE_URL is ");
    expect(complaint({ DATABASE_URL })).not.toContain("hunter2");
  });

  it.each([
    ["?sslmode=require", "?sslmode=verify-full"],
    ["?a=b&sslmode=prefer&c=d", "?a=b&sslmode=verify-full&c=d"],
    ["?sslmode=no-verify", "?sslmode=no-verify"],
    ["?uselibpqcompat=true&sslmode=require", "?uselibpqcompat=true&sslmode=require"],
  ])("reads %s as node-postgres means it, which then need not warn", (given, read) => {
    expect(readConfig({ DATABASE_URL: url + given }).databaseUrl).toBe(url + read);
  });

  it.each([
    [{}, true],
    [{ NODE_ENV: "production" }, false],
    [{ NODE_ENV: "production", ALLOW_PRIVILEGED_ROLE: "true" }, true],
    [{ ALLOW_PRIVILEGED_ROLE: "false" }, false],
  ])("with %j allows a privileged web role: %s", (env, allowed) => {
    expect(readConfig(env).allowPrivilegedRole).toBe(allowed);
  });

  it("refuses an owner's connection without the web process' own", () => {
    expect(complaint({ DATABASE_OWNER_URL: url })).toContain("DATABASE_URL is not set");
  });

  it("refuses to send notices with the web role, which may not read", () => {
    expect(complaint({ DATABASE_URL: url, NOTIFY_DATABASE_URL: url })).toContain("NOTIFY_DATABASE_URL has the role of");
  });

  it("refuses the example of a secret in production", () => {
    const example = /for example NOTIFY_WEBHOOK_SECRET=(\S+)/.exec(complaint({ NOTIFY_WEBHOOK_SECRET: "x" }))?.[1];
    const given = { DATABASE_URL: urlOf("web"), NOTIFY_WEBHOOK_SECRET: example };
    expect(readConfig(given).notifyWebhookSecret).toBe(example);
    expect(complaint({ ...given, NODE_ENV: "production" })).toContain("NOTIFY_WEBHOOK_SECRET is the example");
  });

  it("minds an example's password for notices only where some are sent", () => {
    const given = {
      DATABASE_URL: urlOf("web"),
      NOTIFY_DATABASE_URL: "postgresql://perennial_notify:change-this-notify-password@db/x",
      NODE_ENV: "production",
    };
    expect(() => readConfig(given)).not.toThrow();
    expect(complaint({ ...given, NOTIFY_WEBHOOK_URL: "http://hooks/x" })).toContain(
      "NOTIFY_DATABASE_URL has the password",
    );
  });

  describe("in production", () => {
    const hooked = { NODE_ENV: "production", NOTIFY_WEBHOOK_URL: "https://hooks.example/T0/B0/x" };
    const good = {
      DATABASE_URL: urlOf("web"),
      DATABASE_OWNER_URL: urlOf("owner"),
      NOTIFY_DATABASE_URL: urlOf("notify"),
    };
    const compose = {
      DATABASE_URL: "WEB_PASSWORD",
      DATABASE_OWNER_URL: "OWNER_PASSWORD",
      NOTIFY_DATABASE_URL: "NOTIFY_PASSWORD",
    };

    it.each(Object.entries(compose))("refuses a password shorter than 15 characters in %s", (name, inCompose) => {
      const short = urlOf("role", "8b1f3c40d2e5a%C3%A9"); // 14 characters in 15 bytes.
      const message = complaint({ ...hooked, ...good, [name]: short });
      expect(message).toMatch(
        new RegExp(
          `:\\n {2}${name} has .* shorter than 15 .*\\(docker compose: ${inCompose}\\).*openssl rand -hex 24$`,
        ),
      );
      expect(message).not.toContain("8b1f3c");
      expect(() => readConfig({ ...hooked, ...good, [name]: urlOf("role", "8b1f3c40d2e5a7b") })).not.toThrow();
      expect(() => readConfig({ ...good, [name]: short })).not.toThrow();
    });

    it("refuses one password for two roles, also where the URLs write it in different ways", () => {
      const shared = {
        DATABASE_OWNER_URL: urlOf("owner", "8b1f3c40d2e5a7b6"),
        NOTIFY_DATABASE_URL: urlOf("notify", "%38b1f3c40d2e5a7b6"),
      };
      const message = complaint({ ...hooked, ...good, ...shared });
      expect(message).toMatch(
        /:\n {2}DATABASE_OWNER_URL and NOTIFY_DATABASE_URL have the same password .*\(docker compose: OWNER_PASSWORD and NOTIFY_PASSWORD\).*openssl rand -hex 24$/,
      );
      expect(message).not.toContain("8b1f3c");
      expect(() => readConfig({ ...good, ...shared })).not.toThrow();
    });

    it("accepts one role in two URLs, and roles without a password", () => {
      const oneRole = { ...good, DATABASE_OWNER_URL: good.DATABASE_URL };
      expect(() => readConfig({ ...hooked, ...oneRole })).not.toThrow();
      const without = { DATABASE_URL: "postgresql://web@db/x", DATABASE_OWNER_URL: "postgresql://owner@db/x" };
      expect(() => readConfig({ ...hooked, ...without })).not.toThrow();
    });
  });

  describe.each([
    ["DATABASE_URL", "WEB_PASSWORD"],
    ["DATABASE_OWNER_URL", "OWNER_PASSWORD"],
  ])("with an example's password in %s", (name, inCompose) => {
    const given = (password: string) => ({
      DATABASE_URL: urlOf("web"),
      [name]: `postgresql://web:${password}@db/x`,
    });

    it.each([...examplePasswords()])("refuses %s in production, without repeating it", (password) => {
      const message = complaint({ ...given(password), NODE_ENV: "production" });
      expect(message).toMatch(
        new RegExp(`^  ${name} has .* example \\(docker compose: ${inCompose}\\).*openssl rand -hex 24$`, "m"),
      );
      expect(message).not.toContain(password);
      expect(readConfig(given(password))).toMatchObject({ databaseUrl: given(password).DATABASE_URL });
    });

    it("sees through percent-encoding, and lets others pass", () => {
      expect(complaint({ ...given("%73ecret"), NODE_ENV: "production" })).toContain(`${name} has the password`);
      expect(() => readConfig({ ...given("secret-8b1f3c40d2"), NODE_ENV: "production" })).not.toThrow();
    });
  });
});

/** A connection with a password that production accepts. */
function urlOf(role: string, password = `8b1f3c40d2e5a7b6-${role}`): string {
  return `postgresql://${role}:${password}@db.example/perennial`;
}

/** Every password that somebody could copy from the files that say how to configure the site. */
function examplePasswords(): Set<string> {
  const files = [
    ".env.example",
    "README.md",
    "docs/postgres.md",
    "server/config-variables.ts",
    "server/database/postgres-binaries.ts",
  ];
  const text = files.map((name) => readFileSync(join(projectRoot, name), "utf8")).join("\n");
  const matches = text.matchAll(/^[A-Z]+_PASSWORD=(\S+)$|postgres(?:ql)?:\/\/[\w-]+:([\w-]+)@/gm);
  const found = new Set(Array.from(matches, ([, assigned, inUrl]) => assigned ?? inUrl ?? ""));
  expect(found.size).toBeGreaterThanOrEqual(4);
  return found;
}

function complaint(env: NodeJS.ProcessEnv): string {
  try {
    readConfig(env);
  } catch (error) {
    expect(error).toBeInstanceOf(OperatorError);
    return (error as Error).message;
  }
  throw new Error("The configuration was accepted");
}
