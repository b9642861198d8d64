// docker-compose.yml and .dockerignore: who connects as which role, which secrets each program and the image
// get, and what each may do.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { version } from "../package.json";
import { settingNames } from "../server/config/settings.ts";
import { projectRoot } from "../server/project-root.ts";

interface Service {
  image?: string;
  build?: object;
  container_name?: string;
  user?: string;
  environment?: Record<string, string | null>;
  depends_on?: object;
  labels?: object;
  ports?: string[];
  networks?: string[];
  volumes?: string[];
}

const read = (file: string) => readFileSync(join(projectRoot, file), "utf8");
const compose = parse(read("docker-compose.yml"), { merge: true }) as {
  name?: string;
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
  networks: Record<string, unknown>;
};
const { services } = compose;
const site = `\${SITE_IMAGE:-\${COMPOSE_PROJECT_NAME}:${version}}`;

/** Returns the roles in the URLs of the database. */
function rolesOf({ environment = {} }: Service): string[] {
  const urls = Object.values(environment).join(" ").replaceAll("${STUDIO_USER:-perennial_admin}", "perennial_admin");
  return Array.from(urls.matchAll(/postgresql:\/\/([^:]+):/g), ([, role = ""]) => role).toSorted();
}

it("Docker Compose connects each service as the role that it needs, and none as a superuser", () => {
  const users = Object.entries(services).map(([name, service]) => `${name}: ${rolesOf(service).join(" ")}`);
  expect(users.filter((text) => /: \w/.test(text)).toSorted()).toEqual([
    "migrate: perennial_admin perennial_owner perennial_web perennial_worker",
    "site: perennial_web",
    "studio: perennial_admin",
    "waitlist: perennial_admin perennial_owner perennial_web perennial_worker",
    "worker: perennial_worker",
  ]);
  const sql = read("deploy/create-owner.sql");
  expect(sql).toMatch(/^CREATE ROLE perennial_owner LOGIN CREATEROLE PASSWORD :'password';$/m);
  expect(sql.match(/^(?:ALTER ROLE|GRANT) .*$/gm)).toEqual(["ALTER ROLE postgres PASSWORD NULL;"]);
});

/** The keys that may differ between services. None weakens the confinement, and further tests compare the mounts, networks and ports. */
const free =
  "build command depends_on deploy entrypoint environment init labels networks ports profiles pull_policy restart stop_signal volumes";

it("the project's own image has a user, and sets NODE_ENV to production", () => {
  expect(read("Dockerfile")).toMatch(/^USER 1000:1000\n\nFROM runtime AS studio$/m);
  expect(read("Dockerfile")).toMatch(
    /^FROM debian:\S+ AS runtime\n(?:.*\n)*?ENV NODE_ENV=production HOST=0\.0\.0\.0 PORT=3000 /m,
  );
});

it.each(Object.entries(services))("Docker Compose confines the service %s", (name, service) => {
  const confinement = Object.entries(service).filter(([key]) => !free.split(" ").includes(key));
  const isCaddy = service.image === "caddy:2.11";
  expect(Object.fromEntries(confinement)).toEqual({
    image: expect.any(String),
    read_only: true,
    cap_drop: ["ALL"],
    security_opt: ["no-new-privileges:true"],
    mem_limit: expect.stringMatching(/^\d+m$/),
    ulimits: { core: 0 },
    logging: { driver: "json-file", options: { "max-size": "10m", "max-file": "5" } },
    tmpfs: { database: ["/tmp", "/var/run/postgresql:uid=999,gid=999"] }[name] ?? ["/tmp"],
    stop_grace_period: { database: "60s", site: "15s", worker: "15s" }[name],
    // The site has the one of the image.
    healthcheck: ["migrate", "waitlist"].includes(name)
      ? { disable: true }
      : { database: expect.anything(), backup: expect.anything(), worker: expect.anything() }[name],
    ...(isCaddy && { cap_add: ["NET_BIND_SERVICE"] }), // Its binary does not start without.
    ...(!service.image?.startsWith(site) && { user: expect.stringMatching(/^(postgres|1000:1000)$/) }),
  });
});

/** Returns the values of the services that have the key. */
const valuesOf = (key: keyof Service) =>
  Object.fromEntries(
    Object.entries(services).flatMap(([name, service]) => (service[key] ? [[name, service[key]]] : [])),
  );

it("Docker Compose keeps backups and administration out of reach of the site", () => {
  expect(valuesOf("volumes")).toEqual({
    // Compose replaces a container whose folder has moved for a file in volumes, not for one in configs.
    database: [
      "database:/var/lib/postgresql",
      "./deploy/create-owner.sql:/docker-entrypoint-initdb.d/create-owner.sql:ro",
    ],
    backup: ["backups:/var/lib/postgresql", "./deploy/backup.sh:/backup.sh:ro"],
    https: ["certificates:/data/caddy", "./deploy/Caddyfile.https:/etc/caddy/Caddyfile:ro"],
  });
  expect(valuesOf("networks")).toEqual({ database: ["default", "admin"], studio: ["admin"], backup: ["admin"] });
  expect(valuesOf("ports")).toEqual({
    site: ["127.0.0.1:${PORT:-3000}:3000"],
    studio: ["127.0.0.1:${STUDIO_PORT:-5555}:${STUDIO_PORT:-5555}"],
    https: ["80:80", "443:443", "443:443/udp"],
  });
  // `docker compose run --rm waitlist` starts nothing else.
  expect(services.waitlist?.depends_on).toBeUndefined();
  // An upgrade replaces those that run a mounted file.
  expect(valuesOf("labels")).toEqual({ backup: { version }, https: { version } });
  const { backup, database } = services;
  expect(backup?.image).toBe(database?.image);
  expect(backup?.environment).toMatchObject({ PGHOST: "database", PGDATABASE: "perennial", PGUSER: "perennial_owner" });
});

it("two projects on one host share no image, name or port but Caddy's, and another's port stops no site", () => {
  for (const [name, { image, build, container_name, ports = [], depends_on }] of Object.entries(services)) {
    expect([name, container_name]).toEqual([name, undefined]);
    if (build) expect(image).toMatch(/^\$\{SITE_IMAGE:-\$\{COMPOSE_PROJECT_NAME\}:/);
    // Compose starts what a service depends on first.
    if (ports.length > 0 && name !== "site") expect(depends_on).toEqual(["site"]);
    if (name !== "https") for (const port of ports) expect(port).toMatch(/\$\{\w*PORT:-/);
  }
  const { volumes, networks, name } = compose;
  expect([name, ...Object.values({ ...volumes, ...networks })].filter(Boolean)).toEqual([]);
});

it("Docker Compose gives the site every setting that it reads, and not the mail server's login", () => {
  const given = (name: string) => Object.keys(services[name]?.environment ?? {}).toSorted();
  const ofWorker = "SMTP_URL WEBHOOK_SECRET WEBHOOK_URL".split(" ");
  const ofBoth = "CONTACT_EMAIL CONTROLLER ERASURE_KEY LOG_LEVEL MAIL_FROM PUBLIC_URL RETENTION_MONTHS".split(" ");
  const urls = ["DATABASE_OWNER_URL", "DATABASE_ADMIN_URL", "WORKER_DATABASE_URL"];
  const fixed = ["HOST", "PORT"]; // The image sets these.
  const ofSite = settingNames.filter((name) => ![...ofWorker, ...urls, ...fixed].includes(name));
  expect(given("site")).toEqual(ofSite.toSorted());
  // doctor tests what the worker uses.
  for (const name of ["migrate", "waitlist"]) expect(given(name)).toEqual([...ofSite, ...ofWorker, ...urls].toSorted());
  expect(given("worker")).toEqual([...ofWorker, ...ofBoth, "WORKER_DATABASE_URL"].toSorted());
});

it(".dockerignore keeps everything but the sources out of the image, and their hidden files, too", () => {
  const sources = /^#.*\n\*\n(?:!(?:[\w-]+(?:\.config)?\.(?:json|ts)|client|prisma|server)\n)+\*\*\/\.\*\n(?![^]*^!)/m;
  expect(read(".dockerignore")).toMatch(sources);
});
