// docker-compose.yml expanded for several kinds of .env, and the files that its services mount, value by value.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { version } from "../package.json";
import { settingNames } from "../server/config/settings.ts";
import { projectRoot } from "../server/project-root.ts";

type Environment = Record<string, string | null>;
interface Service {
  environment?: Environment;
  ports?: string[];
}

const read = (file: string) => readFileSync(join(projectRoot, file), "utf8");
/** Returns the lines that are neither empty nor comments. */
const linesOf = (file: string) => read(file).match(/(?<=^\s*)(?!#|--)\S.*/gm) ?? [];

/** Replaces ${NAME}, ${NAME:-default}, ${NAME:+other} and ${NAME:?message} as Compose does, the innermost first. */
function expand(text: string, env: Record<string, string>): string {
  const variable = /(?<!\$)\$\{(\w+)(?::([-+?])([^${}]*))?\}/;
  const [found, name = "", kind, other = ""] = variable.exec(text) ?? [];
  if (!found) return text.replaceAll("$$", "$");
  const value = { "+": env[name] ? other : "", "-": env[name] || other }[kind ?? ""] ?? env[name] ?? "";
  return expand(
    text.replace(found, () => value),
    env,
  );
}

/** What deploy/new-env.sh writes. */
const written = {
  COMPOSE_PROJECT_NAME: "mysite",
  POSTGRES_VERSION: "18",
  OWNER_PASSWORD: "owners",
  WEB_PASSWORD: "webs",
  ADMIN_PASSWORD: "admins",
};

const compose = (env: Record<string, string> = {}) =>
  parse(
    read("docker-compose.yml"),
    (_, value: unknown) => (typeof value === "string" ? expand(value, { ...written, ...env }) : value),
    { merge: true },
  ) as { services: Record<string, Service>; volumes: object; networks: object; name?: string };

const confined = {
  read_only: true,
  cap_drop: ["ALL"],
  security_opt: ["no-new-privileges:true"],
  tmpfs: ["/tmp"],
  ulimits: { core: 0 },
  logging: { driver: "json-file", options: { "max-size": "10m", "max-file": "5" } },
};
const node = {
  ...confined,
  image: `mysite:${version}`,
  build: { context: ".", target: "site" },
  pull_policy: "missing",
  init: true,
  mem_limit: "256m",
};
const postgres = {
  ...confined,
  image: "postgres:18",
  restart: "unless-stopped",
  user: "postgres", // As root, it would be a superuser of the container.
  mem_limit: "512m",
};
const migrated = { migrate: { condition: "service_completed_successfully" } };
const program = { ...node, restart: "unless-stopped", stop_grace_period: "15s", depends_on: migrated };

/** Compose passes on what .env says. */
const passed = (names: string[]): Environment => Object.fromEntries(names.map((name) => [name, null]));
const url = (role: string, password: string) => `postgresql://perennial_${role}:${password}@database:5432/perennial`;
const tasks = ["SMTP_URL", "WEBHOOK_URL", "WEBHOOK_SECRET"]; // The site does not get the mail server's login.
const ofImage = ["HOST", "PORT"];
const others = new Set(["DATABASE_OWNER_URL", "DATABASE_ADMIN_URL", "WORKER_DATABASE_URL", ...tasks, ...ofImage]);
const ofSite = {
  ...passed(settingNames.filter((name) => !others.has(name))),
  DATABASE_URL: url("web", "webs"),
  PUBLIC_URL: "http://localhost:3000",
  TRUST_PROXY: "",
};
const WORKER_DATABASE_URL = url("worker", "unset");
const ofOwner = {
  ...ofSite,
  ...passed(tasks),
  DATABASE_OWNER_URL: url("owner", "owners"),
  DATABASE_ADMIN_URL: url("admin", "admins"),
  WORKER_DATABASE_URL,
};

const services = {
  database: {
    ...postgres,
    tmpfs: ["/tmp", "/var/run/postgresql:mode=1777"],
    entrypoint: ["sh", "-c", expect.any(String)], // deploy-scripts.test.ts runs it.
    stop_grace_period: "60s",
    environment: { POSTGRES_DB: "perennial", POSTGRES_PASSWORD: "owners" },
    // Compose replaces a container whose folder has moved for a file in volumes, not for one in configs.
    volumes: [
      "database:/var/lib/postgresql",
      "./deploy/create-owner.sql:/docker-entrypoint-initdb.d/create-owner.sql:ro,z",
    ],
    networks: ["default", "admin"],
    healthcheck: {
      test: ["CMD", "pg_isready", "--username=perennial_owner", "--dbname=perennial", "--host=127.0.0.1"],
      interval: "2s",
      timeout: "3s",
      retries: 30,
    },
  },
  migrate: {
    ...node,
    command: ["node", "dist/server/migrate.js"],
    environment: ofOwner,
    healthcheck: { disable: true },
    depends_on: { database: { condition: "service_healthy" } },
  },
  // `docker compose run --rm waitlist` starts nothing else.
  waitlist: {
    ...node,
    profiles: ["waitlist"],
    entrypoint: ["node", "dist/server/waitlist.js"],
    environment: ofOwner,
    healthcheck: { disable: true },
  },
  site: { ...program, environment: ofSite, ports: ["127.0.0.1:3000:3000"] },
  studio: {
    ...confined,
    profiles: ["admin"],
    image: `mysite:${version}-studio`,
    build: { context: ".", target: "studio" },
    pull_policy: "missing",
    command: ["node", "dist/server/studio.js", "--forward", "--port", "5555"],
    init: true,
    mem_limit: "512m",
    environment: { DATABASE_ADMIN_URL: url("admin", "admins") },
    ports: ["127.0.0.1:5555:5555"],
    networks: ["admin"], // The site cannot reach it.
    depends_on: ["site"], // Compose starts the site first: a taken port of Studio does not stop it.
  },
  worker: {
    ...program,
    profiles: ["worker"],
    command: ["node", "dist/server/worker.js"],
    environment: {
      ...passed([
        ...tasks,
        "CONTROLLER",
        "CONTACT_EMAIL",
        "RETENTION_MONTHS",
        "UNCONFIRMED_DAYS",
        "ERASURE_KEY",
        "MAIL_FROM",
        "LOG_LEVEL",
      ]),
      WORKER_DATABASE_URL,
      PUBLIC_URL: "http://localhost:3000",
    },
    // worker.test.ts runs it.
    healthcheck: { test: ["CMD-SHELL", expect.any(String)], interval: "10s", timeout: "3s", start_period: "10s" },
  },
  backup: {
    ...postgres,
    profiles: ["backup"],
    labels: { version }, // An upgrade replaces it: it runs a mounted file.
    init: true,
    entrypoint: ["sh", "/backup.sh"],
    stop_signal: "SIGTERM",
    environment: { PGHOST: "database", PGDATABASE: "perennial", PGUSER: "perennial_owner", PGPASSWORD: "owners" },
    volumes: ["backups:/var/lib/postgresql", "./deploy/backup.sh:/backup.sh:ro,z"],
    networks: ["admin"],
    healthcheck: {
      test: ["CMD-SHELL", "find /var/lib/postgresql/backups -name 'perennial-*.dump' -mmin -2880 | grep -q ."],
      interval: "5s",
      timeout: "3s",
      start_period: "30m",
    },
    depends_on: migrated,
  },
  https: {
    ...confined,
    profiles: ["https"],
    labels: { version },
    image: "caddy:2.11",
    restart: "unless-stopped",
    user: "1000:1000",
    cap_add: ["NET_BIND_SERVICE"], // Its binary does not start without.
    mem_limit: "128m",
    environment: { DOMAIN: "domain-is-not-set.invalid", TRUSTED_PROXIES: null, XDG_CONFIG_HOME: "/tmp" },
    volumes: ["certificates:/data/caddy", "./deploy/Caddyfile.https:/etc/caddy/Caddyfile:ro,z"],
    ports: ["80:80", "443:443", "443:443/udp"],
  },
};

it("Docker Compose runs these services, confined, each with the role and the secrets that it needs, and no project shares a name", () => {
  const { services: all, volumes, networks, name } = compose();
  expect(all).toEqual(services);
  const shared = { volumes: { backups: null, certificates: null, database: null }, networks: { admin: null } };
  expect({ volumes, networks, name }).toEqual(shared);
  const used = read("docker-compose.yml").matchAll(/(?<!\$)\$\{(\w+(?::[-+?])?)/g);
  const required = ["ADMIN_PASSWORD:?", "OWNER_PASSWORD:?", "POSTGRES_VERSION:?", "WEB_PASSWORD:?"];
  expect(read("docker-compose.yml")).toContain("${POSTGRES_VERSION:?add POSTGRES_VERSION='18' to .env;"); // new-env.sh refuses to repair a file.
  const optional = ["DOMAIN:+", "DOMAIN:-", "PORT:-", "PUBLIC_URL:-", "SITE_IMAGE:-", "STUDIO_PASSWORD:-"];
  const more = ["STUDIO_PORT:-", "STUDIO_USER:-", "TRUST_PROXY:-", "WORKER_PASSWORD:-"];
  const given = ["ADMIN_PASSWORD", "COMPOSE_PROJECT_NAME"]; // new-env.sh writes both, and Compose requires the other use of the first.
  expect(new Set(Array.from(used, ([, use]) => use))).toEqual(new Set([...required, ...optional, ...more, ...given]));
});

/** The settings that depend on others, as [PUBLIC_URL, TRUST_PROXY]. */
const proxied = (...values: string[]) => ({ PUBLIC_URL: values[0], TRUST_PROXY: values[1] });
it.each([
  [{ PORT: "80" }, proxied("http://localhost:80", "")],
  [{ DOMAIN: "a.example" }, proxied("https://a.example", "1")],
  [{ PUBLIC_URL: "https://b.example" }, proxied("https://b.example", "")],
  [{ DOMAIN: "a.example, www.a.example", PUBLIC_URL: "https://a.example" }, proxied("https://a.example", "1")],
  [{ DOMAIN: "a.example", TRUST_PROXY: "2" }, proxied("https://a.example", "2")],
])("Docker Compose derives the public URL and the number of proxies from %j", (env, expected) => {
  const { site, migrate, worker, https } = compose(env).services;
  for (const service of [site, migrate]) expect(service?.environment).toMatchObject(expected);
  expect(worker?.environment?.PUBLIC_URL).toBe(expected.PUBLIC_URL);
  expect(https?.environment?.DOMAIN).toBe(Object.assign({ DOMAIN: services.https.environment.DOMAIN }, env).DOMAIN);
});

it("Docker Compose takes image, ports, passwords and Studio's login from .env", () => {
  const env = { SITE_IMAGE: "ghcr.io/a/b:2", PORT: "80", STUDIO_PORT: "81", WORKER_PASSWORD: "workers" };
  const login = { STUDIO_USER: "ada", STUDIO_PASSWORD: "adas" };
  const { services: all } = compose({ ...env, ...login });
  expect(all.site).toMatchObject({ image: "ghcr.io/a/b:2", ports: ["127.0.0.1:80:3000"] });
  expect(all.studio).toMatchObject({
    image: "ghcr.io/a/b:2-studio",
    command: expect.arrayContaining(["--port", "81"]) as unknown,
    ports: ["127.0.0.1:81:81"],
    environment: { DATABASE_ADMIN_URL: "postgresql://ada:adas@database:5432/perennial" },
  });
  for (const name of ["worker", "migrate"]) {
    expect(all[name]?.environment?.WORKER_DATABASE_URL).toBe(url("worker", "workers"));
  }
});

it("the owner of Docker Compose's database is no superuser, who cannot log in from outside", () => {
  expect(linesOf("deploy/create-owner.sql")).toEqual([
    "\\getenv password POSTGRES_PASSWORD",
    "CREATE ROLE perennial_owner LOGIN CREATEROLE PASSWORD :'password';",
    "ALTER DATABASE perennial OWNER TO perennial_owner;",
    "REVOKE TEMPORARY ON DATABASE perennial FROM PUBLIC;",
    "REVOKE CONNECT ON DATABASE postgres, template1 FROM PUBLIC;",
    "ALTER ROLE postgres PASSWORD NULL;",
  ]);
});

it("Caddy logs no request, holds requests while the site is replaced, and takes X-Forwarded-For from nobody but TRUSTED_PROXIES", () => {
  expect(linesOf("deploy/Caddyfile.https").join(" ")).toBe(
    "{ admin off log { format filter { wrap json fields { request delete } } } } " +
      "{$DOMAIN} { reverse_proxy site:3000 { trusted_proxies {$TRUSTED_PROXIES} lb_try_duration 15s " +
      "transport http { dial_timeout 1s response_header_timeout 10s keepalive 200ms } } }",
  );
});
