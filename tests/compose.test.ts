// docker-compose.yml expanded for several kinds of .env, and the files that its services mount, value by value.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { version } from "../package.json";
import { settingNames } from "../server/config/settings.ts";
import { projectRoot } from "../server/config/project-root.ts";

type Environment = Record<string, string | null>;
interface Service extends Record<string, unknown> {
  environment?: Environment;
  healthcheck?: Record<string, unknown>;
  entrypoint?: string[];
  command?: string[];
  volumes?: string[];
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

const { services, volumes, networks, name: nameOfProject } = compose();
const all = Object.entries(services);
/** Returns the value of one key in each service. */
const each = (key: keyof Service) => Object.fromEntries(all.map(([name, service]) => [name, service[key]]));
const of = (...names: string[]) => names.map((name) => services[name] ?? {});

it.each(all)("%s: who breaks in gets no rights, and no log or core file fills the disk", (name, service) => {
  const { read_only, cap_drop, cap_add = [], security_opt, ulimits, mem_limit, privileged, logging } = service;
  expect([read_only, cap_drop, ulimits, privileged]).toEqual([true, ["ALL"], { core: 0 }, undefined]);
  expect(security_opt).toContain("no-new-privileges:true");
  expect(cap_add).toEqual(service === services.https ? ["NET_BIND_SERVICE"] : []); // Its binary does not start without.
  expect(mem_limit).toBe({ database: "512m", backup: "512m", studio: "512m", https: "384m" }[name] ?? "256m");
  expect(logging).toEqual({ driver: "json-file", options: { "max-size": "10m", "max-file": "5" } });
  expect(service.tmpfs).toContain("/tmp");
});

const on = "unless-stopped";
const afterMigrating = { migrate: { condition: "service_completed_successfully" } };

it.each<[whoIsHurt: string, value: unknown, expected: unknown]>([
  ["who breaks in is root", each("user"), { database: "postgres", backup: "postgres", https: "1000:1000" }],
  ["nothing starts after a power cut", each("restart"), { database: on, site: on, worker: on, backup: on, https: on }],
  ["a stop cuts a request", each("stop_grace_period"), { site: "15s", worker: "15s", database: "60s" }],
  [
    "Node as process 1 ignores an early SIGTERM",
    of("site", "worker", "migrate").map(({ init }) => init),
    [true, true, true],
  ],
  [
    "a stop takes 10 s",
    [services.backup?.init, services.studio?.init, services.backup?.stop_signal],
    [true, true, "SIGTERM"],
  ],
  [
    "strangers reach Postgres, Studio or, past the proxy, the site",
    each("ports"),
    { site: ["127.0.0.1:3000:3000"], studio: ["127.0.0.1:5555:5555"], https: ["80:80", "443:443", "443:443/udp"] },
  ],
  [
    "the site reaches Studio",
    each("networks"),
    { database: ["default", "admin"], studio: ["admin"], backup: ["admin"] },
  ],
  [
    "operators get a program that they did not ask for, or the site does not start without a profile",
    each("profiles"),
    { waitlist: ["waitlist"], studio: ["admin"], worker: ["worker"], backup: ["backup"], https: ["https"] },
  ],
  [
    "the site starts on an old table, or Caddy is replaced with it and visitors get no response",
    each("depends_on"),
    {
      migrate: { database: { condition: "service_healthy" } },
      site: afterMigrating,
      worker: afterMigrating,
      backup: afterMigrating,
      studio: ["site"],
    },
  ],
  [
    "the migration connects while initdb's server listens on the socket only",
    services.database?.healthcheck?.test,
    expect.arrayContaining(["pg_isready", "--host=127.0.0.1", "--dbname=perennial", "--username=perennial_owner"]),
  ],
  [
    "a slow start of Postgres fails `docker compose up`",
    services.database?.healthcheck,
    expect.objectContaining({ interval: "5s", timeout: "3s", retries: 12 }),
  ],
  [
    "nobody learns that backups stopped, or the first backup of a large list counts as a failure",
    services.backup?.healthcheck,
    expect.objectContaining({
      test: ["CMD-SHELL", "find /var/lib/postgresql/backups -name 'perennial-*.dump' -mmin -2880 | grep -q ."],
      interval: "30s",
      start_period: "30m",
    }),
  ],
  [
    "`up --wait` fails for programs that end or listen on no port, whose image has the site's health check",
    [...of("migrate", "waitlist").map(({ healthcheck }) => healthcheck), services.site?.healthcheck],
    [{ disable: true }, { disable: true }, undefined],
  ],
  [
    "a worker that starts counts as broken",
    services.worker?.healthcheck,
    expect.objectContaining({ interval: "30s", timeout: "3s", start_period: "10s" }),
  ],
  [
    "the list, backups or certificates go with a container, or it lacks a file, changes it, or SELinux refuses it",
    all.flatMap(([, service]) => service.volumes ?? []),
    [
      "database:/var/lib/postgresql",
      "./deploy/create-owner.sql:/docker-entrypoint-initdb.d/create-owner.sql:ro,z",
      "backups:/var/lib/postgresql",
      "./deploy/backup.sh:/backup.sh:ro,z",
      "certificates:/data/caddy",
      "./deploy/Caddyfile.https:/etc/caddy/Caddyfile:ro,z",
    ],
  ],
  [
    "an upgrade leaves the container that has the older mounted file",
    of("backup", "https").map(({ labels }) => labels),
    [{ version }, { version }],
  ],
  ["the postgres user cannot create its socket", services.database?.tmpfs, ["/tmp", "/var/run/postgresql:mode=1777"]],
  ["two sites on one machine share a network", [nameOfProject, networks], [undefined, { admin: null }]],
  ["two sites on one machine share a volume", volumes, { backups: null, certificates: null, database: null }],
  [
    "operators run the image of another release or site",
    of("site", "worker", "migrate", "waitlist", "studio").map(({ image, pull_policy }) => [image, pull_policy]),
    ["", "", "", "", "-studio"].map((suffix) => [`mysite:${version}${suffix}`, "missing"]),
  ],
  [
    "the image of the site holds Prisma's command, or Studio's lacks it",
    of("site", "worker", "migrate", "waitlist", "studio").map(({ build }) => build),
    ["site", "site", "site", "site", "studio"].map((target) => ({ context: ".", target })),
  ],
  [
    "a container runs another program than its role",
    of("migrate", "worker", "waitlist", "backup").map(({ entrypoint = [], command = [] }) =>
      [...entrypoint, ...command].at(-1),
    ),
    ["dist/server/migrate.js", "dist/server/worker.js", "dist/server/waitlist.js", "/backup.sh"],
  ],
])("otherwise %s", (_, value, expected) => {
  expect(value).toEqual(expected);
});

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
const DATABASE_ADMIN_URL = url("admin", "admins");
const ofOwner = {
  ...ofSite,
  ...passed(tasks),
  DATABASE_OWNER_URL: url("owner", "owners"),
  DATABASE_ADMIN_URL,
  WORKER_DATABASE_URL,
};
const ofWorker = [
  ...tasks,
  ..."CONTROLLER CONTACT_EMAIL RETENTION_MONTHS UNCONFIRMED_DAYS MAIL_FROM LOG_LEVEL".split(" "),
];

/** Its order of texts is Postgres' own, which no update of the image changes. */
const POSTGRES_INITDB_ARGS = "--locale-provider=builtin --locale=C.UTF-8";

it.each<[service: string, environment: Environment]>([
  ["site", ofSite],
  ["migrate", ofOwner],
  ["waitlist", ofOwner],
  ["worker", { ...passed(ofWorker), WORKER_DATABASE_URL, PUBLIC_URL: "http://localhost:3000" }],
  ["studio", { DATABASE_ADMIN_URL }],
  ["database", { POSTGRES_DB: "perennial", POSTGRES_PASSWORD: "owners", POSTGRES_INITDB_ARGS }],
  ["backup", { PGHOST: "database", PGDATABASE: "perennial", PGUSER: "perennial_owner", PGPASSWORD: "owners" }],
  ["https", { DOMAIN: "domain-is-not-set.invalid", TRUSTED_PROXIES: null, XDG_CONFIG_HOME: "/tmp" }],
])("who breaks into %s learns no other role's password, and no setting of .env gets lost", (service, environment) => {
  expect(
    services[service]?.environment,
    "environment in docker-compose.yml; for a setting of the image, ofImage above",
  ).toEqual(environment);
});

it("Docker Compose refuses to start without a password or Postgres' version, and says what to do", () => {
  const required = read("docker-compose.yml").matchAll(
    /(?<!\$)\$\{(\w+):\?(?:bring back \.env|add \w+='18' to \.env;)/g,
  );
  expect(new Set(Array.from(required, ([, name]) => name))).toEqual(
    new Set(["ADMIN_PASSWORD", "OWNER_PASSWORD", "POSTGRES_VERSION", "WEB_PASSWORD"]),
  );
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
  expect(https?.environment?.DOMAIN).toBe(Object.assign({ DOMAIN: "domain-is-not-set.invalid" }, env).DOMAIN);
});

it("Docker Compose takes image, ports, passwords and Studio's login from .env", () => {
  const env = { SITE_IMAGE: "ghcr.io/a/b:2", PORT: "80", STUDIO_PORT: "81", WORKER_PASSWORD: "workers" };
  const login = { STUDIO_USER: "ada", STUDIO_PASSWORD: "adas" };
  const { services: changed } = compose({ ...env, ...login });
  expect(changed.site).toMatchObject({ image: "ghcr.io/a/b:2", ports: ["127.0.0.1:80:3000"] });
  expect(changed.studio).toMatchObject({
    image: "ghcr.io/a/b:2-studio",
    command: ["node", "dist/server/studio.js", "--forward", "--port", "81"],
    ports: ["127.0.0.1:81:81"],
    environment: { DATABASE_ADMIN_URL: "postgresql://ada:adas@database:5432/perennial" },
  });
  for (const name of ["worker", "migrate"]) {
    expect(changed[name]?.environment?.WORKER_DATABASE_URL).toBe(url("worker", "workers"));
  }
});

it.each<[whoIsHurt: string, statement: RegExp]>([
  ["the superuser, who reads files, logs in from outside", /^ALTER ROLE postgres PASSWORD NULL;$/],
  [
    "no owner can log in or create the site's roles",
    /^CREATE ROLE perennial_owner LOGIN CREATEROLE PASSWORD :'password';$/,
  ],
  ['the owner has the literal password "password"', /^\\getenv password POSTGRES_PASSWORD$/],
  ["the owner cannot migrate", /^ALTER DATABASE perennial OWNER TO perennial_owner;$/],
  ["a role fills the disk with temporary tables", /^REVOKE TEMPORARY ON DATABASE perennial FROM PUBLIC;$/],
  ["a role reaches other databases", /^REVOKE CONNECT ON DATABASE postgres, template1 FROM PUBLIC;$/],
])("create-owner.sql: otherwise %s", (_, statement) => {
  const lines = linesOf("deploy/create-owner.sql");
  expect(lines).toContainEqual(expect.stringMatching(statement));
  expect(lines.filter((line) => /SUPERUSER|BYPASSRLS|REPLICATION|pg_(?:read|write|execute)/i.test(line))).toEqual([]);
});

it.each<[whoIsHurt: string, config: string]>([
  ["anybody in the container changes Caddy by its admin port", "{ admin off "],
  ["one client takes all memory by headers of HTTP/2", " servers { max_header_size 16KB } "],
  ["visitors' addresses and paths are in the log", " log { format filter { wrap json fields { request delete } } } "],
  ["visitors reach no site, or a site without its certificate", " {$DOMAIN} { reverse_proxy site:3000 { "],
  ["clients choose the address that the sign-up limit counts", " trusted_proxies {$TRUSTED_PROXIES} "],
  ["slow bodies fill the site's memory", " request_buffers 20KiB "],
  ["visitors see a failure while the site is replaced", " lb_try_duration 15s "],
  ["a held request makes one attempt only", " dial_timeout 1s "],
  ["visitors wait for a site that hangs", " response_header_timeout 10s "],
  ["a sign-up is sent on a connection that a stopping site closes", " keepalive 200ms "],
])("Caddy: otherwise %s", (_, config) => {
  const text = linesOf("deploy/Caddyfile.https").join(" ");
  expect(text).toContain(config);
  expect(text).not.toMatch(
    /trusted_proxies (?!\{\$TRUSTED_PROXIES\} )|retry_match|lb_retries|output| log (?!\{ format filter)/,
  );
});
