// Each path, npm script, waitlist command, option, setting and link that a document names exists. Each command and option is named.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, it } from "vitest";
import { allSettings } from "../server/config/settings.ts";
import { commands } from "../server/commands/waitlist/commands.ts";
import { mail } from "../server/commands/waitlist/mail.ts";
import { projectRoot } from "../server/config/project-root.ts";

const read = (name: string) => readFileSync(join(projectRoot, name), "utf8");
const list = (folder: string) => readdirSync(join(projectRoot, folder)).map((name) => join(folder, name));
const documents = [".", "docs", "docs/decisions"].flatMap(list).filter((name) => name.endsWith(".md"));
// The changelog may name removed things.
const present = documents.filter((name) => name !== "CHANGELOG.md");

const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
const others = [".env.example", "docker-compose.yml", "Dockerfile", "tests/support/chromium.ts"].map(read).join("\n");
const isCommand = (found: string) => commands.some((known) => known.name() === found);
const isMailCommand = (found: string) => mail.commands.some((known) => known.name() === found);
const commandNames = commands.map((known) => known.name()).join("|");
const ofOtherPrograms = ["--health-cmd", "--print-sql", "--scale", "--ulimit"];
/** Returns the long options of a command and its subcommands. */
const optionsOf = (command: (typeof commands)[number]) => [
  ...new Set([command, ...command.commands].flatMap(({ options }) => options.map(({ long }) => long ?? ""))),
];
/** Returns whether the command, or for options alone any command, has each option. */
function hasItsOptions(found: string): boolean {
  const known = commands.filter((command) => found.startsWith("--") || found.startsWith(`${command.name()} `));
  const options = new Set([...known.flatMap(optionsOf), ...ofOtherPrograms]);
  return (found.match(/--[a-z-]+/g) ?? []).every((option) => options.has(option));
}
const isSetting = (found: string) =>
  found.replace(/_FILE$/, "") in allSettings ||
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
  ["subcommands of mail", /(?:^|waitlist )mail ([a-z]+)/gm, isMailCommand],
  [
    "options of waitlist commands",
    new RegExp(`^(?:.*waitlist )?((?:${commandNames}) .*--.*|--[a-z].*)`, "gm"),
    hasItsOptions,
  ],
  ["settings", /(?<![\w$-])([A-Z]+(?:_[A-Z]+)+)\b/g, isSetting],
])("documents name %s that exist", (_, pattern, isKnown) => {
  expect(faults(present, (name) => findAll(codeOf(name), pattern).filter((found) => !isKnown(found)))).toEqual([]);
});

/** The paragraphs and the items of lists. */
const passages = present.flatMap((name) => read(name).split(/\n\n|\n(?=\s*(?:-|\d\.) )/));

it.each(commands.map((command) => [command.name(), optionsOf(command)] as const))(
  "documents name the command %s and, beside it, its options",
  (name, options) => {
    expect(read("docs/commands.md"), `Add \`${name}\` to docs/commands.md`).toMatch(new RegExp(`^- \`${name}\\b`, "m"));
    const own = passages.filter((text) => new RegExp(`(?:\`|waitlist )${name}\\b`).test(text)).join("\n");
    const missing = options.filter((option) => !new RegExp(`${option}(?![\\w-])`).test(own));
    expect(missing, `Name the options beside \`${name}\` in docs/commands.md`).toEqual([]);
  },
);

it("messages name sections of documents that exist", () => {
  const files = readdirSync(join(projectRoot, "server"), { recursive: true, encoding: "utf8" });
  const sources = files.filter((name) => name.endsWith(".ts")).map((name) => join("server", name));
  const findSections = (name: string) =>
    Array.from(read(name).matchAll(/\b(docs\/[\w-]+\.md), ([A-Z][a-zA-Z ]+)/g), ([, file, heading]) => [file, heading]);
  const sections = sources.flatMap(findSections);
  expect(sections.length).toBeGreaterThan(0);
  expect(sections.filter(([file = "", heading]) => !read(file).includes(`# ${heading}\n`))).toEqual([]);
});

it("documents have links that lead somewhere", () => {
  const findLinks = (name: string) => findAll(read(name).replace(/^```.*?^```/gms, ""), /\]\((?![a-z]+:)([^)\s]+)\)/g);
  expect(faults(documents, (name) => findLinks(name).filter((link) => !leadsSomewhere(name, link)))).toEqual([]);
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
