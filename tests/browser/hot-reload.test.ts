// The pages in development: hot reload of an edit of the sources without a manual reload.
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { freePort } from "../../server/database/embedded/free-port.ts";
import { scripts } from "../../package.json";
import { projectRoot } from "../../server/config/project-root.ts";
import { formField, isHydrated, isViolation, openPage, type WatchedPage } from "../support/browser.ts";
import { createTestDatabase } from "../support/database.ts";
import { until } from "../support/run.ts";
import { startSite } from "../support/site.ts";

/** In milliseconds; generous, because the machine may be busy. */
const timeout = 120_000;

const site = await startDevSite();

/** Opens the landing page, whose form is too far away to start the hydration, and waits for the connection to Vite. */
async function openUnhydrated(url: string): Promise<WatchedPage> {
  const page = await openPage();
  await Promise.all([
    page.waitForEvent("console", (message) => message.text() === "[vite] connected."),
    page.goto(url),
  ]);
  return page;
}

/** Opens the landing page, hydrates it and types into two fields, which an ordinary reload empties. */
async function openHydrated(url: string): Promise<WatchedPage> {
  const page = await openUnhydrated(url);
  const hydrate = async () => {
    await formField(page, "name").focus();
    return isHydrated(page);
  };
  // Repeat this: Vite reloads the page if it finds another dependency to bundle.
  await expect.poll(() => hydrate().catch(() => false), { timeout }).toBe(true);
  await page.waitForLoadState("networkidle");
  for (const name of ["name", "email"] as const) await formField(page, name).fill(name);
  return page;
}

/** Returns whether the page has the mark in its text, or the heading as a custom property. */
const hasMark = (mark: string) => {
  const heading = document.querySelector("h1");
  const property = heading && getComputedStyle(heading).getPropertyValue(`--${mark}`);
  return Boolean(property) || document.documentElement.textContent.includes(mark);
};

const edits: [file: string, after: string, insertion: string][] = [
  ["client/shared/content.ts", 'headline: "', "MARK "],
  ["client/sections/hero.tsx", "<h1>", 'MARK{" "}'],
  ["client/sections/hero.css", ".hero-text {", " --MARK: shown;"],
  ["client/entry-server.tsx", "path, body", ': body.replace("<h1>", "<h1>MARK ")'],
  ["server/views/page-cache.ts", "Buffer.from(html", '.replace("<h1>", "<h1>MARK ")'],
];

it("an edit of copy, component, stylesheet and server appears in every open page, and one of the form keeps what was typed", async () => {
  const pages = [await openHydrated(site.url), await openUnhydrated(site.url)] as const;
  let navigations = 0;
  pages[0].on("framenavigated", () => navigations++);
  await site.edit("client/early-access/panel.tsx", "{!joined && <NextSteps", "edited-form {!joined && <NextSteps");
  await pages[0].waitForFunction(hasMark, "edited-form", { timeout });
  await site.edit("client/early-access/panel.tsx", "edited-form", "edited-again");
  await pages[0].waitForFunction(hasMark, "edited-again", { timeout });
  for (const name of ["name", "email"] as const) expect(await formField(pages[0], name).inputValue()).toBe(name);
  expect(navigations).toBe(0);
  const show = async (file: string, text: string, replacement: string, mark: string) => {
    await site.edit(file, text, replacement);
    // Vite's watcher of a server that has just started may miss an edit: save again. Not the server's file: each save starts the server
    // again, which takes longer than the interval on a busy machine, and a page that loads meanwhile looks for Vite on a foreign port.
    const save = () => void (file.startsWith("client/") && site.edit(file, replacement, replacement));
    const saving = setInterval(save, 20_000);
    for (const page of pages) await page.waitForFunction(hasMark, mark, { timeout });
    clearInterval(saving);
  };
  for (const [file, after, insertion] of edits) {
    const mark = `edited-${basename(file).replace(".", "-")}`;
    await show(file, after, after + insertion.replace("MARK", mark), mark);
  }
  expect(pages.flatMap(({ messages }) => messages).filter(isViolation)).toEqual([]);
  // With a page open, and while a component does not compile.
  await show("client/sections/hero.tsx", "<h1>", "<h1 {", "hero.tsx");
  await site.edit("server/views/page-cache.ts", "edited-", "again-");
  await until("the site starts again", () => site.stdout().split("Restarting").length === 3, 60);
  await show("client/sections/hero.tsx", "<h1 {", "<h1>", "again-");
  expect(site.stdout()).not.toContain("Force killing");
}, 600_000);

it("the development server serves files of client/ and node_modules/ only, and to another site's page none", async () => {
  for (const from of ["cross-site", "same-site"]) {
    const visit = async (path: string) =>
      (await fetch(site.url + path, { headers: { "Sec-Fetch-Site": from } })).status;
    for (const path of ["/__open-in-editor", "/@vite/client", "/routes.tsx"]) {
      expect([path, await visit(path)]).toEqual([path, 404]);
    }
    expect(await visit("/")).toBe(200);
  }
  const read = async (file: string, query = "") =>
    (await fetch(`${site.url}/@fs${site.folder}/${file}${query}`)).text();
  expect(await read("client/shared/fields.ts", "?raw")).toContain("export const fields");
  for (const file of [".data/postgres/password", "exports/list.csv", ".env", ".git/config"]) {
    await mkdir(dirname(join(site.folder, file)), { recursive: true });
    await writeFile(join(site.folder, file), "secret=1");
    for (const query of ["", "?raw", "?url", "?inline", "?import&raw", "?raw??", "?.svg?.wasm?init", "#/../client"]) {
      expect(await read(file, query), file + query).not.toMatch(/secret|c2VjcmV0/);
    }
  }
}, 600_000);

/** Starts the command of `npm run dev` on a copy of the project, which the tests may edit. */
async function startDevSite() {
  const sources = ["client", "server", "prisma", "package.json", "prisma.config.ts", "tsconfig.json", "vite.config.ts"];
  const { webUrl } = await createTestDatabase();
  const copy = await mkdtemp(join(tmpdir(), "perennial-dev-"));
  for (const source of sources) await cp(join(projectRoot, source), join(copy, source), { recursive: true });
  await linkPackages(join(copy, "node_modules"));
  const started = await startSite({
    cwd: copy,
    // Not npm: it would not pass a signal on to the command.
    command: ["sh", "-c", scripts.dev.replace("npm run generate && ", "exec ")],
    env: {
      DATABASE_URL: webUrl,
      PATH: `${join(copy, "node_modules/.bin")}${delimiter}${process.env.PATH}`,
      // A fixed port, because an open page reconnects to the port that it knows.
      PORT: String(await freePort()),
    },
  });
  afterAll(async () => {
    await started.stop();
    await rm(copy, { recursive: true, force: true });
  }, timeout);
  return {
    url: started.url,
    folder: copy,
    stdout: () => started.stdout(),
    /** Replaces a text that the file must hold. */
    edit: async (file: string, text: string, replacement: string) => {
      const before = await readFile(join(copy, file), "utf8");
      if (!before.includes(text)) throw new Error(`${file} does not contain ${text}`);
      // In one step: the watcher could read a file that is half written.
      await writeFile(
        join(copy, "edited"),
        before.replace(text, () => replacement),
      );
      await rename(join(copy, "edited"), join(copy, file));
    },
  };
}

/** Links each package, and not the folder, because Vite keeps its cache in the folder. */
async function linkPackages(folder: string): Promise<void> {
  await mkdir(folder);
  const packages = join(projectRoot, "node_modules");
  // Vite serves the files of sonner, which it does not bundle, only from within the copy.
  await cp(join(packages, "sonner"), join(folder, "sonner"), { recursive: true });
  const others = (await readdir(packages)).filter((name) => name !== "sonner" && !name.startsWith(".vite"));
  await Promise.all(others.map((name) => symlink(join(packages, name), join(folder, name))));
}
