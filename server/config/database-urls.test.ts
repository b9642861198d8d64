// The rules that a set of database URLs must fulfil. load-config.test.ts has their syntax.
import { expect, it } from "vitest";
import { readConfig } from "./load-config.ts";
import { checkPasswords } from "./database-urls.ts";

const idle = { NODE_ENV: "production" };
const production = { ...idle, WEBHOOK_URL: "https://hooks.example/T0/B0/x" };
const good = {
  DATABASE_URL: urlOf("web"),
  DATABASE_OWNER_URL: urlOf("owner"),
  DATABASE_ADMIN_URL: urlOf("admin", ""),
  WORKER_DATABASE_URL: urlOf("worker"),
};

const inCompose = {
  DATABASE_URL: "WEB_PASSWORD",
  DATABASE_OWNER_URL: "OWNER_PASSWORD",
  DATABASE_ADMIN_URL: "ADMIN_PASSWORD",
  WORKER_DATABASE_URL: "WORKER_PASSWORD",
};
it.each(Object.entries(inCompose))(
  "the configuration rejects a short password in %s in production",
  (name, variable) => {
    // The second has 14 characters in 15 bytes; the third is the worker's in Docker Compose if .env has none.
    for (const password of ["secret", "8b1f3c40d2e5a%C3%A9", "unset"]) {
      const env = { ...good, [name]: urlOf("role", password) };
      expect([check(env), check({ ...production, ...good })]).toEqual([[], []]);
      const errors = [
        `${name} has a password shorter than 15 characters (docker compose: ${variable}); make one with: openssl rand -hex 24`,
      ];
      for (const task of [
        production,
        { ...idle, MAIL_FROM: "a@b.co" },
        { ...idle, RETENTION_MONTHS: "1" },
        { ...idle, UNCONFIRMED_DAYS: "7" },
      ]) {
        expect(check({ ...task, ...env })).toEqual(errors);
      }
      expect(check({ ...idle, ...env })).toEqual(name === "WORKER_DATABASE_URL" ? [] : errors); // Which nobody starts.
    }
  },
);

it.each([
  ["DATABASE_URL", "WEB_PASSWORD"],
  ["DATABASE_OWNER_URL", "OWNER_PASSWORD"],
])("the configuration names Docker Compose's variable for a / in the password of %s", (name, variable) => {
  const message = new RegExp(`${name} is "postgresql://…" but must be a .*: ${variable} with letters, digits`);
  expect(() => readConfig({ ...good, [name]: "postgresql://role:a/b@db/perennial" })).toThrow(message);
});

it("the configuration rejects one password for two roles in production, even if the URLs encode it differently", () => {
  const env = {
    ...good,
    DATABASE_OWNER_URL: urlOf("owner", "8b1f3c40d2e5a7b6"),
    WORKER_DATABASE_URL: urlOf("worker", "%38b1f3c40d2e5a7b6"),
  };
  expect(check(env)).toEqual([]);
  expect(check({ ...production, ...env })).toEqual([
    "DATABASE_OWNER_URL and WORKER_DATABASE_URL have the same password for different roles (docker compose: OWNER_PASSWORD and WORKER_PASSWORD); for each role make one with: openssl rand -hex 24",
  ]);
});

function check(env: NodeJS.Dict<string>): string[] {
  return env.NODE_ENV === "production" ? checkPasswords(env) : [];
}

function urlOf(role: string, password = `8b1f3c40d2e-${role}`): string {
  return `postgresql://${role}:${password}@db.example/perennial`;
}
