// The command of `npm run dev` on a copy of the project, so that a test may edit the sources.
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { scripts } from "../../package.json";
import { projectRoot } from "../../server/project-root.ts";
import { freePort } from "../../server/database/embedded/embedded.ts";
import { startSite } from "./site.ts";

export type DevSite = Awaited<ReturnType<typeof startDevSite>>;

const sources = ["client", "server", "prisma", "package.json", "prisma.config.ts", "tsconfig.json", "vite.config.ts"];

export async function startDevSite(env: Record<string, string>) {
  const copy = await mkdtemp(join(tmpdir(), "perennial-dev-"));
  for (const source of sources) await cp(join(projectRoot, source), join(copy, source), { recursive: true });
  await linkPackages(join(copy, "node_modules"));
  const site = await startSite({
    cwd: copy,
    // Not npm: it would not pass a signal on to the command.
    command: ["sh", "-c", `exec ${scripts.dev}`],
    env: {
      ...env,
      PATH: `${join(copy, "node_modules/.bin")}${delimiter}${process.env.PATH}`,
      // A fixed port, because an open page reconnects to the port that it knows.
      PORT: String(await freePort()),
    },
  });
  return {
    ...site,
    /** Replaces a text that the file must hold. */
    edit: async (file: string, text: string, replacement: string) => {
      const before = await readFile(join(copy, file), "utf8");
      if (!before.includes(text)) throw new Error(`${file} does not contain ${text}`);
      await writeFile(
        join(copy, file),
        before.replace(text, () => replacement),
      );
    },
    /** Stops the site and deletes the copy. */
    remove: async () => {
      await site.stop();
      await rm(copy, { recursive: true, force: true });
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
