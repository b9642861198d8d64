// docker-compose.yml with each setting that changes it, the Caddyfile, the image and hosted CI: who connects as which role, which
// secrets each program gets, what each may do, and the numbers that must fit those of the code.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { scripts, version } from "../package.json";
import { settingNames } from "../server/config/settings.ts";
import { timeLimits } from "../server/database/pool.ts";
import { gracePeriodMs, stoppingMs } from "../server/http/server.ts";
import { projectRoot } from "../server/project-root.ts";
import { defaultRoundMs } from "../server/worker/worker.ts";

type Environment = Record<string, string | null>;
interface Service {
  environment?: Environment;
  [key: string]: unknown;
}

const read = (file: string) => readFileSync(join(projectRoot, file), "utf8");
const dockerfile = read("Dockerfile");

/** What new-env.sh writes. */
const newEnv = {
  COMPOSE_PROJECT_NAME: "perennial",
  POSTGRES_VERSION: "18",
  OWNER_PASSWORD: "own",
  WEB_PASSWORD: "wb",
  ADMIN_PASSWORD: "adm",
  WORKER_PASSWORD: "wrk",
};

/** Replaces the variables as Docker Compose does, the innermost first. @throws the message of a variable that must be set. */
function expand(text: string, env: Record<string, string>): string {
  const replaced = text.replace(
    /(?<!\$)\$\{(\w+)(?:(:[-?+])([^${}]*))?\}/g,
    (_, name: string, operator, word: string) => {
      const value = env[name] ?? "";
      if (operator === ":?" && value === "") throw new Error(`${name}: ${word}`);
      if (operator === ":+") return value && word;
      return operator === ":-" ? value || word : value;
    },
  );
  return replaced === text ? text.replaceAll("$$", "$") : expand(replaced, env);
}

function readCompose(env: Record<string, string> = {}) {
  // Comments may name variables.
  const text = read("docker-compose.yml").replaceAll(/^\s*#.*\n/gm, "");
  return parse(expand(text, { ...newEnv, ...env }), { merge: true }) as { services: Record<string, Service> };
}

const url = (role: string, password: string) => `postgresql://perennial_${role}:${password}@database:5432/perennial`;
/** Variables that are passed on if .env sets them. */
const passedOn = (names: string): Environment => Object.fromEntries(names.split(" ").map((name) => [name, null]));

const addresses = { PUBLIC_URL: "http://localhost:3000", TRUST_PROXY: null };
const ofSite: Environment = {
  ...passedOn(
    "ALLOW_INDEXING ALLOW_PRIVILEGED_ROLE CONTACT_EMAIL CONTROLLER ERASURE_KEY LEGAL_LINKS LOG_LEVEL MAIL_FROM METRICS_PORT RECIPIENTS",
  ),
  ...passedOn("RETENTION_MONTHS SIGNUP_HOURLY_CEILING SIGNUP_LIMIT SIGNUP_WINDOW_SECONDS WAITLIST WAITLIST_CLOSES"),
  ...addresses,
  DATABASE_URL: url("web", "wb"),
};
/** What the worker uses, and doctor tests. The site does not get the mail server's login. */
const tasks = passedOn("SMTP_URL WEBHOOK_SECRET WEBHOOK_URL");
const ofOwner = {
  ...ofSite,
  ...tasks,
  DATABASE_OWNER_URL: url("owner", "own"),
  DATABASE_ADMIN_URL: url("admin", "adm"),
  WORKER_DATABASE_URL: url("worker", "wrk"),
};

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
  image: `perennial:${version}`,
  build: { context: ".", target: "site" },
  pull_policy: "missing",
  init: true,
  mem_limit: "256m",
};
const restart = "unless-stopped";
const migrated = { migrate: { condition: "service_completed_successfully" } };
const program = { ...node, restart, stop_grace_period: "15s", depends_on: migrated };
const postgres = { ...confined, image: "postgres:18", restart, user: "postgres", mem_limit: "512m" };
const readOnly = (file: string, target: string) => `./deploy/${file}:${target}:ro`;

const services = {
  database: {
    ...postgres,
    tmpfs: ["/tmp", "/var/run/postgresql:uid=999,gid=999"],
    // tests/deploy-scripts.test.ts runs it.
    entrypoint: ["sh", "-c", expect.stringContaining("exec docker-entrypoint.sh postgres")],
    stop_grace_period: "60s",
    environment: { POSTGRES_DB: "perennial", POSTGRES_PASSWORD: "own" },
    // Compose replaces a container whose folder has moved for a file in volumes, not for one in configs.
    volumes: [
      "database:/var/lib/postgresql",
      readOnly("create-owner.sql", "/docker-entrypoint-initdb.d/create-owner.sql"),
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
    restart,
    image: `perennial:${version}-studio`,
    build: { context: ".", target: "studio" },
    command: ["node", "dist/server/studio.js", "--forward", "--port", "5555"],
    init: true,
    mem_limit: "512m",
    environment: { DATABASE_ADMIN_URL: url("admin", "adm") },
    ports: ["127.0.0.1:5555:5555"],
    networks: ["admin"],
    depends_on: ["site"],
  },
  worker: {
    ...program,
    profiles: ["worker"],
    command: ["node", "dist/server/worker.js"],
    environment: {
      ...tasks,
      ...passedOn("CONTACT_EMAIL CONTROLLER ERASURE_KEY LOG_LEVEL MAIL_FROM RETENTION_MONTHS"),
      WORKER_DATABASE_URL: url("worker", "wrk"),
      PUBLIC_URL: addresses.PUBLIC_URL,
    },
    healthcheck: {
      test: ["CMD-SHELL", "find /tmp/perennial-worker -mmin -1 | grep -q ."],
      interval: "10s",
      timeout: "3s",
      start_period: "10s",
    },
  },
  backup: {
    ...postgres,
    profiles: ["backup"],
    // An upgrade replaces the services that run a mounted file.
    labels: { version },
    init: true,
    entrypoint: ["sh", "/backup.sh"],
    stop_signal: "SIGTERM",
    environment: { PGHOST: "database", PGDATABASE: "perennial", PGUSER: "perennial_owner", PGPASSWORD: "own" },
    volumes: ["backups:/var/lib/postgresql", readOnly("backup.sh", "/backup.sh")],
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
    restart,
    user: "1000:1000",
    cap_add: ["NET_BIND_SERVICE"], // Its binary does not start without.
    mem_limit: "128m",
    environment: { DOMAIN: "domain-is-not-set.invalid", TRUSTED_PROXIES: null, XDG_CONFIG_HOME: "/tmp" },
    volumes: ["certificates:/data/caddy", readOnly("Caddyfile.https", "/etc/caddy/Caddyfile")],
    ports: ["80:80", "443:443", "443:443/udp"],
    depends_on: ["site"],
  },
};

it("Docker Compose has these services, out of each other's reach, and no name that a second project on the host would share", () => {
  const networks = { admin: null };
  const volumes = { backups: null, certificates: null, database: null };
  const anchors = new Set(["x-confined", "x-node", "x-program", "x-settings", "x-tasks"]);
  const { services: found, ...others } = Object.fromEntries(
    Object.entries(readCompose()).filter(([key]) => !anchors.has(key)),
  );
  expect(found).toEqual(services);
  expect(others).toEqual({ networks, volumes });
});

it.each<[env: Record<string, string>, changed: object]>([
  [{ DOMAIN: "a.example" }, { PUBLIC_URL: "https://a.example", TRUST_PROXY: 1, DOMAIN: "a.example" }],
  [
    { DOMAIN: "a.example", TRUST_PROXY: "2" },
    { PUBLIC_URL: "https://a.example", TRUST_PROXY: 2, DOMAIN: "a.example" },
  ],
  [
    { PUBLIC_URL: "https://b.example", TRUST_PROXY: "1" },
    { PUBLIC_URL: "https://b.example", TRUST_PROXY: 1 },
  ],
  [
    { DOMAIN: "a.example, www.a.example", PUBLIC_URL: "https://a.example" },
    { PUBLIC_URL: "https://a.example", TRUST_PROXY: 1, DOMAIN: "a.example, www.a.example" },
  ],
  [{ PORT: "4000" }, { PUBLIC_URL: "http://localhost:4000", ports: ["127.0.0.1:4000:3000"] }],
  [
    { STUDIO_PORT: "6000" },
    {
      command: ["node", "dist/server/studio.js", "--forward", "--port", "6000"],
      ports: ["127.0.0.1:6000:6000"],
    },
  ],
  [
    { STUDIO_USER: "ada", STUDIO_PASSWORD: "x" },
    { DATABASE_ADMIN_URL: url("admin", "adm").replace("perennial_admin:adm", "ada:x") },
  ],
  [{ SITE_IMAGE: "ghcr.io/a/b:2" }, { image: "ghcr.io/a/b:2" }],
])("with %j in .env, Docker Compose changes nothing but %j", (env, changed) => {
  const differences = Object.entries(readCompose(env).services).flatMap(([name, service]) => {
    const before = services[name as keyof typeof services] as Service;
    const values = { ...service, ...service.environment };
    const known: Record<string, unknown> = { ...before, ...before.environment };
    return Object.entries(values).filter(
      ([key, value]) => key !== "environment" && JSON.stringify(value) !== JSON.stringify(known[key]),
    );
  });
  const suffixed = differences.map(([key, value]) => [
    key,
    key === "image" ? String(value).replace(/-studio$/, "") : value,
  ]);
  expect(Object.fromEntries(suffixed.filter(([key]) => key !== "entrypoint"))).toEqual(changed);
});

it.each(["POSTGRES_VERSION", "OWNER_PASSWORD", "WEB_PASSWORD", "ADMIN_PASSWORD"])(
  "Docker Compose starts nothing without %s",
  (name) => {
    expect(() => readCompose({ [name]: "" })).toThrow(`${name}: bring back .env, or run sh deploy/new-env.sh`);
  },
);

it("Docker Compose gives the site every setting that it reads", () => {
  const others = new Set(["HOST", "PORT", ...Object.keys(ofOwner).filter((name) => !(name in ofSite))]); // The image sets the first two.
  expect(Object.keys(ofSite).toSorted()).toEqual(settingNames.filter((name) => !others.has(name)).toSorted());
});

it("the owner of the database is no superuser, and the superuser has no password", () => {
  const sql = read("deploy/create-owner.sql");
  expect(sql).toMatch(/^CREATE ROLE perennial_owner LOGIN CREATEROLE PASSWORD :'password';$/m);
  expect(sql.match(/^(?:ALTER ROLE|GRANT) .*$/gm)).toEqual(["ALTER ROLE postgres PASSWORD NULL;"]);
});

/** Returns the instructions of a stage of the Dockerfile, without comments. */
function stage(name: string): string[] {
  const text = dockerfile.replaceAll(/^#.*\n/gm, "").replaceAll("\\\n", "");
  const [, body = ""] = new RegExp(` AS ${name}\\n([^]*?)(?=\\nFROM|$)`).exec(text) ?? [];
  return body.trim().split("\n");
}

it("the image has the build, Node and no secret, runs as a user, and with the options of npm start", () => {
  expect(stage("runtime")).toEqual([
    "COPY --from=node:24-slim /usr/local/bin/node /usr/local/bin/",
    "COPY --from=node:24-slim /usr/local/LICENSE* /usr/local/",
    "ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 HOME=/tmp MALLOC_ARENA_MAX=1",
    "WORKDIR /app",
    "COPY --from=build /app/dist ./dist",
    "COPY --from=build /app/prisma ./prisma",
    "USER 1000:1000",
  ]);
  expect(stage("site").slice(0, 5)).toEqual([
    "ENV NODE_OPTIONS=--max-old-space-size=120",
    "EXPOSE 3000",
    "COPY --chmod=755 server/health-check.sh ./",
    'HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["bash", "health-check.sh"]',
    `CMD ${JSON.stringify(scripts.start.replace("npm run build && ", "").split(" ")).replaceAll(",", ", ")}`,
  ]);
  expect(dockerfile.match(/^FROM .*/gm)).toEqual([
    "FROM --platform=$BUILDPLATFORM node:24-slim AS build",
    "FROM --platform=$BUILDPLATFORM node:24-slim AS prisma",
    "FROM debian:trixie-slim AS runtime",
    "FROM runtime AS studio",
    "FROM runtime AS site",
  ]);
  const sources = /^#.*\n\*\n(?:!(?:[\w-]+(?:\.config)?\.(?:json|ts)|client|prisma|server)\n)+\*\*\/\.\*\n(?![^]*^!)/m;
  expect(read(".dockerignore")).toMatch(sources);
});

const ms = (text = "") => parseFloat(text) * (text.endsWith("ms") ? 1 : text.endsWith("m") ? 60_000 : 1_000);
const caddy = (name: string) => new RegExp(`^\\s*${name} (.*)$`, "m").exec(read("deploy/Caddyfile.https"))?.[1];

it("Caddy overwrites X-Forwarded-For of clients, logs no request, and waits longer than the site takes", () => {
  expect(caddy("reverse_proxy")).toBe("site:3000 {");
  expect(caddy("trusted_proxies")).toBe("{$TRUSTED_PROXIES}");
  expect(caddy("request")).toBe("delete");
  expect(caddy("admin")).toBe("off");
  // A sign-up waits for its deadline, and a stopping site for requests in progress.
  expect(ms(caddy("response_header_timeout"))).toBeGreaterThanOrEqual(Math.max(timeLimits.change * 2, gracePeriodMs));
  // Caddy must not send a request on a connection that a stopping site closes, and waits until the next site listens.
  expect(ms(caddy("keepalive"))).toBeLessThan(stoppingMs);
  expect(ms(caddy("lb_try_duration"))).toBeGreaterThanOrEqual(gracePeriodMs);
});

it("the times and sizes of containers fit those of the programs", () => {
  expect(ms(program.stop_grace_period)).toBeGreaterThan(gracePeriodMs + stoppingMs);
  expect(ms(program.stop_grace_period)).toBeGreaterThan(defaultRoundMs);
  // The worker's file is older than a round, and once by a check that waited for Postgres.
  const [, minutes] = /-mmin -(\d+)/.exec(services.worker.healthcheck.test[1] ?? "") ?? [];
  expect(ms(`${minutes}m`)).toBeGreaterThan(3 * defaultRoundMs);
  const [, heap] = /--max-old-space-size=(\d+)/.exec(dockerfile) ?? [];
  const [, young] = /--max-semi-space-size=(\d+)/.exec(scripts.start) ?? [];
  expect(Number(heap) + 3 * Number(young)).toBeLessThan(0.75 * parseInt(node.mem_limit));
});

it("hosted CI runs .ci/run on the image's Node, and pushes only what all other jobs passed", () => {
  const { jobs, on } = parse(read(".github/workflows/ci.yml")) as {
    on: object;
    jobs: Record<string, { if?: string; needs?: string[]; steps: { run?: string; with?: Record<string, unknown> }[] }>;
  };
  expect(on).toEqual({
    push: { branches: ["main"], tags: ["v*.*.*"] },
    pull_request: null,
    schedule: [{ cron: "17 4 * * 1" }],
  });
  expect(jobs.test?.steps.map(({ run, with: options }) => run ?? options?.["node-version"])).toEqual([
    undefined,
    Number(/node:(\d+)/.exec(dockerfile)?.[1]),
    'sudo env "PATH=$PATH" .ci/run',
  ]);
  expect(jobs.image?.if).toBe("startsWith(github.ref, 'refs/tags/v')");
  expect(jobs.image?.needs).toEqual(Object.keys(jobs).filter((name) => !["image", "scan"].includes(name)));
  const commands = jobs.stack?.steps.flatMap(({ run }) => run?.trim().split("\n") ?? []);
  expect(commands).toEqual(
    expect.arrayContaining([
      "sh deploy/new-env.sh",
      "docker compose --profile admin --profile backup --profile https up -d --wait",
      "curl --fail --insecure --retry 5 --retry-all-errors https://localhost/readyz",
    ]),
  );
});
