// Finds a browser: CHROMIUM_PATH, an installed Chrome or Chromium, or the one that an npm package carries.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium, type Browser } from "playwright-core";

export interface Chromium {
  path: string;
  env: Record<string, string>;
}

const names = ["google-chrome-stable", "google-chrome", "chromium", "chromium-browser"];
const macPath = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";

/** Root cannot use the sandbox; the rest keeps Chromium from sending requests of its own. */
const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"];

export function launchChromium({ path, env }: Chromium, ...more: string[]): Promise<Browser> {
  return chromium.launch({ executablePath: path, env: { ...process.env, ...env }, args: [...args, ...more] });
}

export async function findChromium(): Promise<Chromium> {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const installed = [process.env.CHROMIUM_PATH, ...names.flatMap((n) => folders.map((f) => join(f, n))), macPath];
  const path = installed.find((candidate) => candidate && existsSync(candidate));
  if (path) return { path, env: {} };
  if (process.platform !== "linux" || process.arch !== "x64") {
    throw new Error("The tests need a browser: install Chrome or Chromium, or name one in CHROMIUM_PATH.");
  }
  return findPackaged();
}

/** The package contains what a bare system lacks (NSS, fonts), but uses it only if it detects Lambda. */
async function findPackaged(): Promise<Chromium> {
  process.env.AWS_EXECUTION_ENV ??= "AWS_Lambda_nodejs20.x";
  const { default: packaged } = await import("@sparticuz/chromium");
  const path = await packaged.executablePath();
  const { FONTCONFIG_PATH = "", LD_LIBRARY_PATH = "" } = process.env;
  return { path, env: { FONTCONFIG_PATH, LD_LIBRARY_PATH } };
}
