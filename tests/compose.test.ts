// docker-compose.yml: what a change of a setting restarts, who connects as which role, and what each service may do.
// deploy/kubernetes.yaml: what each pod gets and may do.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { version } from "../package.json";
import { projectRoot } from "../server/project-root.ts";

interface Service {
  image?: string;
  build?: { context: string; target: string };
  pull_policy?: string;
  user?: string;
  environment?: Record<string, string | null>;
  depends_on?: Record<string, unknown> | string[];
  profiles?: string[];
  ports?: string[];
  networks?: string[];
  volumes?: string[];
  read_only?: boolean;
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  mem_limit?: string;
  logging?: { options: Record<string, string> };
}

interface Manifest {
  kind: string;
  spec?: {
    ttlSecondsAfterFinished?: number;
    template?: { spec: { containers: { envFrom: Record<string, { name: string } | undefined>[] }[] } };
  };
}

const read = (file: string) => readFileSync(join(projectRoot, file), "utf8");
const compose = parse(read("docker-compose.yml"), { merge: true }) as {
  services: Record<string, Service>;
  configs: Record<string, { file: string }>;
};
const { services, configs } = compose;

it("Docker Compose restarts Postgres for no change of a setting", () => {
  // Compose recreates what depends on a recreated container.
  expect(services.database?.depends_on).toBeUndefined();
  expect(Object.keys(services.database?.environment ?? {})).toEqual(["POSTGRES_DB", "POSTGRES_PASSWORD"]);
});

it("Docker Compose connects each service as the role that it needs, and none as a superuser", () => {
  const roles = Object.entries(services).flatMap(([name, { environment = {} }]) =>
    Object.values(environment).flatMap((value) => {
      const role = /^postgresql:\/\/([^:]+):/.exec(value?.replace(/^(postgresql:\/\/)\$\{\w+:-(\w+)\}/, "$1$2") ?? "");
      return role ? [`${name}: ${role[1]}`] : [];
    }),
  );
  expect(roles.toSorted()).toEqual([
    "migrate: perennial_admin",
    "migrate: perennial_owner",
    "migrate: perennial_web",
    "migrate: perennial_worker",
    "replica-1: perennial_web",
    "replica-2: perennial_web",
    "replica-3: perennial_web",
    "site: perennial_web",
    "studio: perennial_admin",
    "studio: perennial_web",
    "worker: perennial_worker",
  ]);
  expect(read("deploy/create-owner.sql")).toMatch(
    /^CREATE ROLE perennial_owner LOGIN CREATEROLE PASSWORD :'password';$/m,
  );
  expect(read("deploy/create-owner.sql")).toMatch(/^ALTER ROLE postgres PASSWORD NULL;$/m);
});

it("Docker Compose confines each service", () => {
  for (const [name, service] of Object.entries(services)) {
    expect(service, name).toMatchObject({
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
      mem_limit: expect.stringMatching(/^\d+m$/),
      logging: { options: { "max-size": "10m" } },
    });
    // The project's own image has a user.
    if (!isOwn(service)) expect(service.user, name).toMatch(/^(postgres|valkey|1000:1000)$/);
    // An older Caddy does not send a POST to another replica if the first one is gone.
    if (service.image !== "caddy:2.11") expect(service.cap_add, name).toBeUndefined();
  }
});

const isOwn = ({ image }: Service) => image?.startsWith("${SITE_IMAGE:-");

it("Docker Compose takes its own images from a registry or builds them, with the version of package.json", () => {
  const site = `\${SITE_IMAGE:-perennial:${version}}`;
  for (const [name, service] of Object.entries(services).filter(([, one]) => isOwn(one))) {
    const [image, target] = name === "studio" ? [`${site}-studio`, "studio"] : [site, "site"];
    expect(service, name).toMatchObject({ image, build: { context: ".", target } });
  }
  // Outside deploy/, an operator with a published image would need the sources.
  for (const { file } of Object.values(configs))
    expect([file, read(file)]).toEqual([expect.stringMatching(/^deploy\//), expect.anything()]);
});

it("Docker Compose backs up with the image of the database, as the owner, out of reach of the site", () => {
  const { backup, database } = services;
  expect(backup?.image).toBe(database?.image);
  expect(backup?.environment).toEqual({
    PGHOST: "database",
    PGDATABASE: "perennial",
    PGUSER: "perennial_owner",
    PGPASSWORD: "${OWNER_PASSWORD:?set it in .env}",
  });
  expect(backup).toMatchObject({ profiles: ["backup"], networks: ["admin"] });
  expect(backup?.ports).toBeUndefined();
  expect(backup?.volumes?.some((volume) => database?.volumes?.includes(volume))).toBe(false);
  for (const name of ["site", "replica-1"]) expect(services[name]?.networks, name).toBeUndefined();
});

it("Docker Compose puts Caddy in front of the site if DOMAIN is set", () => {
  const { https, site } = services;
  expect(https).toMatchObject({ profiles: ["https"], ports: ["80:80", "443:443", "443:443/udp"] });
  expect(https?.volumes).toEqual(["certificates:/data/caddy"]);
  expect(read("deploy/Caddyfile.https")).toMatch(/^\{\$DOMAIN\} \{\n\treverse_proxy site:3000 \{$/m);
  const values = (domain: Record<string, string>) => [
    interpolate(site?.environment?.PUBLIC_URL ?? "", domain),
    interpolate(site?.environment?.TRUST_PROXY ?? "", domain),
    interpolate(site?.ports?.[0] ?? "", domain),
  ];
  expect(values({})).toEqual(["http://localhost:3000", "", "127.0.0.1:3000:3000"]);
  expect(values({ PORT: "80", TRUST_PROXY: "2" })).toEqual(["http://localhost:80", "2", "127.0.0.1:80:3000"]);
  expect(values({ DOMAIN: "a.example" })).toEqual(["https://a.example", "1", "127.0.0.1:3000:3000"]);
  expect(values({ DOMAIN: "a.example", PUBLIC_URL: "https://b.example" })[0]).toBe("https://b.example");
});

/** Replaces ${NAME:-default} and ${NAME:+replacement} from the inside out, as Compose does. */
function interpolate(text: string, values: Record<string, string>): string {
  const replaced = text.replace(/\$\{(\w+)(?::([-+])([^${}]*))?\}/, (_, name: string, operator?: string, word = "") => {
    if (operator === "+") return values[name] ? word : "";
    return values[name] ?? word;
  });
  return replaced === text ? text : interpolate(replaced, values);
}

it("Docker Compose does not give the site the mail server's login, but what it needs to know of mails", () => {
  const names = (setting: string) =>
    Object.keys(services).filter((name) => setting in (services[name]?.environment ?? {}));
  const sites = ["migrate", "replica-1", "replica-2", "replica-3", "site", "worker"];
  // doctor, which runs in the service migrate, tests what the worker and the replicas use.
  for (const setting of ["SMTP_URL", "WEBHOOK_URL"]) expect(names(setting), setting).toEqual(["migrate", "worker"]);
  expect(names("REDIS_URL").toSorted()).toEqual(sites.filter((name) => name !== "worker"));
  for (const setting of ["MAIL_FROM", "ERASURE_KEY", "RETENTION_MONTHS", "PUBLIC_URL"]) {
    expect(names(setting).toSorted(), setting).toEqual(sites);
  }
  for (const setting of ["WAITLIST", "WAITLIST_CLOSES"]) {
    expect(names(setting).toSorted(), setting).toEqual(sites.filter((name) => name !== "worker"));
  }
  expect(services.worker?.profiles).toEqual(["worker"]);
});

it("Kubernetes confines each pod, and gives it all settings but only its own secrets", () => {
  const documents = parseAllDocuments(read("deploy/kubernetes.yaml")).map((document) => document.toJS() as Manifest);
  const pods = documents.flatMap(({ spec }) => spec?.template?.spec ?? []);
  for (const pod of pods) {
    expect(pod).toMatchObject({ automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } });
    expect(pod.containers).toMatchObject([
      {
        securityContext: { readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
        resources: { limits: { memory: "256Mi" } },
      },
    ]);
  }
  const sources = pods.map(({ containers: [container] }) =>
    container?.envFrom.map(({ configMapRef, secretRef }) => configMapRef?.name ?? secretRef?.name),
  );
  expect(sources).toEqual([
    ["perennial", "perennial-worker", "perennial-site", "perennial-owner"],
    ["perennial", "perennial-site"],
    ["perennial", "perennial-worker"],
  ]);
  expect(documents.find(({ kind }) => kind === "Job")?.spec?.ttlSecondsAfterFinished).toBeGreaterThan(0);
});
