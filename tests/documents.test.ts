// Each path, npm script, waitlist command, setting and link that a document names exists.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, it } from "vitest";
import { settings } from "../server/config/settings.ts";
import { commands } from "../server/commands/waitlist/commands.ts";
import { projectRoot } from "../server/project-root.ts";

const read = (name: string) => readFileSync(join(projectRoot, name), "utf8");
const list = (folder: string) => readdirSync(join(projectRoot, folder)).map((name) => join(folder, name));
const documents = [".", "docs", "docs/decisions"].flatMap(list).filter((name) => name.endsWith(".md"));
// The changelog may name removed things.
const present = documents.filter((name) => name !== "CHANGELOG.md");

const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
const others = [".env.example", "docker-compose.yml", "Dockerfile", "tests/support/chromium.ts"].map(read).join("\n");
const isCommand = (found: string) => commands.some((known) => known.name() === found);
const isSetting = (found: string) =>
  found.replace(/_FILE$/, "") in settings ||
  ["NODE_EXTRA_CA_CERTS", "DATABASE_UNPOOLED_URL", "RAILWAY_DEPLOYMENT_DRAINING_SECONDS", "ON_ERROR_STOP"].includes(
    found,
  ) ||
  new RegExp(`\\b${found}\\b`).test(others);

it.each<[what: string, pattern: RegExp, exists: (found: string) => boolean]>([
  // Files that end with .js are in dist/, where the build writes them.
  ["paths", /(?<![\w@/.-])((?:client|deploy|docs|prisma|server|tests)\/[\w./*-]*[\w/*])(?<!\.js)(?![\w.])/g, exists],
  ["npm scripts", /npm run (?:--silent )?([\w:-]+)/g, (found) => found in scripts],
  [
    "commands, after a build,",
    /\bnpm (start|test)\b/g,
    (found) => (scripts[found] ?? "").startsWith("npm run build && "),
  ],
  ["waitlist commands", /(?:^|[\s/])waitlist(?:\.js)?(?: --)? ([a-z]+)/gm, isCommand],
  ["settings", /(?<![\w$-])([A-Z]+(?:_[A-Z]+)+)\b/g, isSetting],
])("documents name %s that exist", (_, pattern, isKnown) => {
  expect(faults(present, (name) => findAll(codeOf(name), pattern).filter((found) => !isKnown(found)))).toEqual([]);
});

it("docs/promises.md names a test for each promise", () => {
  const [, ...promises] = read("docs/promises.md").split(/\n\n## |^- /m);
  const items = promises.filter((text) => text.includes("."));
  expect(items.length).toBeGreaterThan(0);
  expect(items.filter((text) => !/`(?:tests\/[\w/-]+|[\w./-]+\.test)\.ts`\s*$/.test(text))).toEqual([]);
});

it("messages name sections of documents that exist", () => {
  const files = readdirSync(join(projectRoot, "server"), { recursive: true, encoding: "utf8" });
  const sources = files.filter((name) => name.endsWith(".ts")).map((name) => join("server", name));
  const findSections = (name: string) =>
    Array.from(read(name).matchAll(/\b(docs\/[\w-]+\.md), ([A-Z][a-zA-Z ]+)/g), ([, file, heading]) => [file, heading]);
  const sections = sources.flatMap(findSections);
  expect(sections.length).toBeGreaterThan(5);
  expect(sections.filter(([file = "", heading]) => !read(file).includes(`# ${heading}\n`))).toEqual([]);
});

it("documents have links that lead somewhere", () => {
  const findLinks = (name: string) => findAll(read(name).replace(/^```.*?^```/gms, ""), /\]\((?![a-z]+:)([^)\s]+)\)/g);
  expect(faults(documents, (name) => findLinks(name).filter((link) => !leadsSomewhere(name, link)))).toEqual([]);
});

it.each<[otherwise: string, risky: RegExp, safe: RegExp]>([
  ["a failed restore leaves half a list", /pg_restore (?!-l).*-d \w+/, /--single-transaction| -1 /],
  ["the oldest backup is copied", /ls .*\/backups \|/, /ls -t \S+ \| head -n 1'/],
  ["a setting of the role stays in the database", /ROLE (\w+) RESET ALL/, /ROLE (\w+) IN DATABASE \w+ RESET ALL/],
  ["an upgrade leaves a site that stores nothing", /-deps migrate && /, /&& docker compose up -d --wait && .* doctor$/],
  ["the volumes go, too", /compose .*down\b/, /down(?! (?:-v|--volumes))|--remove-orphans$/],
  ["volumes go with the build's cache", /\bprune\b/, /docker builder prune -f(?! )|docker builder prune -f +#/],
  ["hashes are added up to the first error", /psql .* < exports/, /-v ON_ERROR_STOP=1/],
  ["too much goes", /DROP \w+ earlyaccess_/, /If the key is lost, run `DROP TABLE earlyaccess_erasures\.addresses`/],
  ["a restore deletes who confirmed since", /run --rm .*waitlist purge/, /-e UNCONFIRMED_DAYS=0 waitlist purge/],
  ["the first night deletes people unseen", /Before the first night/, /--dry-run`, and make a \[backup\]/],
  ["a restore loses what happened since", /entries are damaged/, /\|back up first, then \[restore\]/],
  ["backups and certificates go with the list", /volume rm/, /`docker volume rm NAME_database`/],
  ["all containers go with Studio", /compose rm/, /compose rm -sf studio /],
  ["the list goes instead of the count of mails", /DELETE FROM/, /`DELETE FROM earlyaccess_mail_passes`/],
  ["everybody gets one person's name", /UPDATE \w+ SET/, /WHERE email = '…'`/],
  ["the worker mails people whose restore goes on", /stop site\b/, /stop site worker studio/],
  ["each old entry gets a mail again", /pg_restore -U postgres/, / -a -n public --disable-triggers -1 /],
  ["others on the machine read the list", /(?:-n \w+|export|invite .*|json) .*> (?:exp|FILE)/, /umask 077/],
  ["a terminal changes what a file holds", /compose .*exec .*[<>] exports|run .* - < exports/, / -T /],
  ["nothing backs up", /COMPOSE_PROFILES='?\w/, /\bbackup\b/],
  ["the record of migrations is copied", /pg_restore -l/, /\| grep -v _prisma_migrations >/],
  ["everybody reads new tables", /Supabase: /, /\*\*remove `public` from the Data API's exposed schemas\*\*/],
  ["a new admin is the owner", /^GRANT/, /^GRANT perennial_admins TO ada;$/],
  ["a file of a crash has passwords, the site the list", /--ulimit/, /core=0`, without the other database URLs, which/],
  ["a stranger guesses a key", /openssl rand/, /openssl rand (?:-hex (?:24|32)|-base64 32)/],
  ["no site gets through PgBouncer", /^ignore_startup/, /^ignore_startup_parameters = lock_timeout,statement_timeout$/],
  ["strangers send mail through the host", /mynetworks/, /= 127\.0\.0\.0\/8 \[::1\]\/128 172\.16\.0\.0\/12'/],
  ["strangers send mail in the site's name", /v=spf1/, / ~all"$/],
  ["nobody hears of a fault", /doctor.* 2>&1/, /^(?:\*\/30 \*|\d 6) \* \* \* root .* \|\| echo "\$found"$/],
  ["an outage shows as 200", /from outside/, /^Probe `\/readyz` from outside/],
  ["hosts end each site while Postgres fails", /^\|(?:Fly|Ren|Rai|Cloud|Kub|Cool)/, /^(?!.*readyz).*`\/healthz`/],
  ["a mailing that stopped is not noticed", /^\d.* doctor /, /doctor --strict /],
  ["other programs' databases are open to the site", /CONNECT ON/, /REVOKE CONNECT ON DATABASE other FROM PUBLIC`/],
  ["a crash loses sign-ups", /`fsync`/, /`synchronous_commit` and `fsync` on\./],
  ["everybody reaches Studio", /ssh -L/, /ssh -L 5555:127\.0\.0\.1:5555 HOST`/],
  ["people of the same machine read the list", /^- \*\*Studio/, /has no login:\*\* anyone on the machine can use it/],
  ["a forgotten transaction stops sign-ups", /^ALTER ROLE ada SET/, /idle_in_transaction_session_timeout = '30s'/],
  ["Postgres loses its own files", /`docker system df`/, /delete no files of Postgres/],
  ["the passwords are on one disk", /^\d\. Run `sh deploy\/new-env/, /\*\*keep a copy elsewhere\.\*\*/],
  ["who has the hashes has their key", /openssl rand.*ERASURE_KEY/, /Store a copy apart from the database and$/],
  ["each database refuses the next version", /landed migration/, /^Never edit a landed migration/],
  ["all visitors of a CDN share a limit", /CDN, set/, /`TRUST_PROXY=2`, and `TRUSTED_PROXIES` to its addresses/],
  ["a form of www is refused", /^- For www/, /='perennial\.example, www\..*'https:\/\/perennial\.example'/],
  ["the lock of a forgotten transaction stays", /^\|55P03/, /run `pg_terminate_backend\(pid\)`/],
  ["receivers treat two SPF records like none", /SPF record/, /^- Add the `include:` to an existing/],
  ["another tool mails who never confirmed", /^For another tool/, /`invite --first 500 --confirmed` writes/],
  ["a restore brings back who was erased", /^- \*\*Delete my data/, /Studio leaves no hash/],
  ["links lose their tokens", /^- A CDN may cache/, /forward every query string and method, challenge no POST/],
  ["links of sent mails are dead", /^- To change the domain/, /='new\..*, old\..*'https:\/\/new\..* need the old name/],
  ["no fault is mailed", /^Cron mails problems/, /needs a mail program .*`MAILTO/],
  ["listeners of a talk get 429", /^Before a talk/, /raise `SIGNUP_LIMIT` to the number of listeners/],
  ["Postgres has too few connections", /per replica/, /^- Ten connections per replica, six for the worker/],
  ["visitors share or forge a limit", /^\|[A-Z][a-z][\w ,]*\|\d/, /^\|(?:Fly\|2|R\w+\|2|[HCK][\w ,]+\|1)/],
])("documents' commands are safe: otherwise, %s", (_, risky, safe) => {
  const lines = [...present, ".env.example"]
    .flatMap((name) => read(name).split("\n"))
    .filter((line) => risky.test(line));
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.filter((line) => !safe.test(line))).toEqual([]);
});

it.each<[otherwise: string, section: RegExp, steps: RegExp]>([
  ["the older version's migrate refuses the newer database", /^## Roll back$.*?^## /ms, /up -d --scale migrate=0\n/],
  [
    "a fault has no backup",
    /^# Upgrade$.*?^## /ms,
    /sh once\n.*X\.Y\.Z && chmod .* build .* migrate && .* up -d --wait && .* doctor\n/s,
  ],
  [
    "sign-ups are lost, and people who were erased, confirmed or mailed get mails",
    /^## Restore$.*?^## /ms,
    /compose stop .*pg_restore.*--clean.* migrate .* -q1 .*erasures\.sql.* purge .* up -d\n.*0 before `up`.*before the dumps.*before a worker starts/s,
  ],
  [
    "the only copy of the list goes",
    /^For a new major version of Postgres.*?^# /ms,
    /--stop NAME.*compose stop.*back up.*hashes.*down`, then `docker volume rm.*POSTGRES_VERSION.*up -d --wait database.*restore/s,
  ],
  [
    "who stops the site loses the list",
    /^### Take the site down.*/ms,
    /deletes the list and its backups\..*down --vol/s,
  ],
  ["sign-ups are lost", /^## Move.*/ms, /--wait database`.* backup`.*back up.*\[restore\].*DNS.*--own - .*purge/s],
  ["old data goes", /^## From before.*?^## /ms, /stop.*hashes.*another `COMPOSE_PROJECT_NAME`.*--wait database/s],
  [
    "nobody has seen the mail",
    /^1\. See who.*?^3\. /ms,
    /launch - < .*launch - --test \S+ <.*^2\. Send.*--send 500 </ms,
  ],
  [
    "a proxy logs visitors' addresses and the secrets of links",
    /^nginx.*?^Traefik/ms,
    /nginx\naccess_log off;\nerror_log \/dev\/null;\n.*apache\nCustomLog \/dev\/null common\nErrorLog \/dev\/null\n/s,
  ],
  ["old browsers fail", /^nginx.*?^Traefik/ms, /Host \$host;\n.*\$proxy_add_x_forwarded_for;.*PreserveHost On\n/s],
])("documents' steps are in their order: otherwise, %s", (_, section, steps) => {
  const text = ["upgrade", "deploy", "launch", "backup"].map((name) => read(`docs/${name}.md`)).join("");
  expect(section.exec(text)?.[0]).toMatch(steps);
});

function faults(names: string[], find: (name: string) => string[]): string[] {
  return names.flatMap((name) => find(name).map((found) => `${name}: ${found}`));
}

function leadsSomewhere(from: string, link: string): boolean {
  const [path = "", heading] = link.split("#");
  const target = path === "" ? from : join(dirname(from), path);
  if (heading === undefined || !exists(target)) return exists(target);
  return findAll(read(target), /^#+ (.+)$/gm)
    .map(toFragment)
    .includes(heading);
}

function toFragment(heading: string): string {
  const words = heading.toLowerCase().replaceAll(/[^\w -]/g, "");
  return words.replaceAll(" ", "-");
}

/** Returns the code blocks and the code within lines. */
const codeOf = (name: string) => findAll(read(name), /^ *(```.*?^ *```)|`([^`\n]+)`/gms).join("\n");

/** Returns the first group of each match, once each. */
function findAll(text: string, pattern: RegExp): string[] {
  return [...new Set(Array.from(text.matchAll(pattern), ([, ...groups]) => groups.find(Boolean) ?? ""))];
}

function exists(path: string): boolean {
  if (!path.includes("*")) return existsSync(join(projectRoot, path));
  const [start = "", end = ""] = basename(path).split("*");
  return list(dirname(path)).some((name) => basename(name).startsWith(start) && name.endsWith(end));
}
