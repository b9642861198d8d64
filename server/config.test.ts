import { describe, expect, it } from "vitest";
import { readConfig } from "./config.ts";
import { OperatorError } from "./operator-error.ts";

const url = "postgresql://web:secret@db.example/perennial";

describe("readConfig", () => {
  it("has a default for everything", () => {
    expect(readConfig({})).toEqual({
      host: "127.0.0.1",
      port: 3000,
      publicUrl: "http://localhost:3000",
      databaseUrl: undefined,
      databaseOwnerUrl: undefined,
      trustProxy: 0,
      signupLimit: 10,
      signupWindowSeconds: 600,
      signupHourlyCeiling: 1000,
      redisUrl: undefined,
      allowIndexing: true,
      logLevel: "info",
    });
  });

  it("takes an empty variable for an unset one", () => {
    expect(readConfig({ PORT: "", DATABASE_URL: " " })).toEqual(readConfig({}));
  });

  it("reads good values", () => {
    const config = readConfig({
      HOST: "::",
      PORT: "0",
      PUBLIC_URL: "https://perennial.example/",
      DATABASE_URL: url,
      TRUST_PROXY: "2",
      SIGNUP_HOURLY_CEILING: "0",
      REDIS_URL: "rediss://user:secret@cache.example:6380/1",
      ALLOW_INDEXING: "false",
      LOG_LEVEL: "warn",
    });
    expect(config).toMatchObject({
      host: "::",
      port: 0,
      publicUrl: "https://perennial.example",
      databaseUrl: url,
      trustProxy: 2,
      signupHourlyCeiling: 0,
      redisUrl: "rediss://user:secret@cache.example:6380/1",
      allowIndexing: false,
      logLevel: "warn",
    });
  });

  it("names every bad variable in one message, with what it got and a good value", () => {
    const bad = {
      HOST: "not a host",
      PORT: "65536",
      PUBLIC_URL: "perennial.example/path",
      DATABASE_URL: "mysql://root:hunter2@db/x",
      DATABASE_OWNER_URL: "nonsense",
      TRUST_PROXY: "true",
      SIGNUP_LIMIT: "0",
      SIGNUP_WINDOW_SECONDS: "-1",
      SIGNUP_HOURLY_CEILING: "none",
      REDIS_URL: "http://:hunter2@cache",
      ALLOW_INDEXING: "no",
      LOG_LEVEL: "loud",
    };
    const shown: Record<string, string> = { DATABASE_URL: "mysql://…", DATABASE_OWNER_URL: "…", REDIS_URL: "http://…" };
    const message = complaint(bad);
    for (const [name, value] of Object.entries(bad)) {
      expect(message).toContain(`${name} is "${shown[name] ?? value}" but must be `);
      expect(message).toMatch(new RegExp(`for example ${name}=\\S`));
    }
    expect(message).not.toContain("hunter2");
  });

  it.each(["1e3", "0x10", "3000.5", " 3000", "³"])("refuses %j as a port", (PORT) => {
    expect(complaint({ PORT })).toContain("PORT is");
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
    "postgresql:/web:hunter2@db/x",
  ])("never repeats the password in %s", (DATABASE_URL) => {
    expect(complaint({ DATABASE_URL })).toContain("DATABASE_URL is ");
    expect(complaint({ DATABASE_URL })).not.toContain("hunter2");
  });

  it("refuses an owner's connection without the web process' own", () => {
    expect(complaint({ DATABASE_OWNER_URL: url })).toContain("DATABASE_URL is not set");
  });
});

function complaint(env: NodeJS.ProcessEnv): string {
  try {
    readConfig(env);
  } catch (error) {
    expect(error).toBeInstanceOf(OperatorError);
    return (error as Error).message;
  }
  throw new Error("The configuration was accepted");
}
