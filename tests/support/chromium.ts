// Finds a browser: the one in CHROMIUM_PATH, the one that an npm package contains, or an installed one.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium, type Browser } from "playwright-core";

export interface Chromium {
  path?: string;
  /** Playwright's name of an installed browser, whose path it knows. */
  channel?: string;
  env: Record<string, string>;
}

const names = ["google-chrome-stable", "google-chrome", "chromium", "chromium-browser"];

/** Root cannot use the sandbox; the rest keeps Chromium from sending requests of its own. */
const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"];

export function launchChromium({ path, channel, env }: Chromium): Promise<Browser> {
  const program = { ...(path && { executablePath: path }), ...(channel && { channel }) };
  return chromium.launch({ ...program, env: { ...process.env, ...env }, args });
}

/**
 * Prefers the packaged one where it runs: it is the same on each machine, and needs less processor time than an installed one.
 * @throws if there is none.
 */
export async function findChromium(): Promise<Chromium> {
  const chosen = process.env.CHROMIUM_PATH;
  if (!chosen && process.platform === "linux" && process.arch === "x64") return findPackaged();
  const path = chosen || findInPath();
  if (path) return { path, env: {} };
  for (const channel of ["chrome", "msedge"]) {
    const browser = await launchChromium({ channel, env: {} }).catch(() => undefined);
    await browser?.close();
    if (browser) return { channel, env: {} };
  }
  throw new Error(
    "The tests need a browser. Install Chrome, Chromium or Edge, or set CHROMIUM_PATH to the path of one.",
  );
}

function findInPath(): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
}

/** The package contains the parts that a bare system lacks (NSS, fonts), but uses them only if it detects Lambda. */
async function findPackaged(): Promise<Chromium> {
  process.env.AWS_EXECUTION_ENV ??= "AWS_Lambda_nodejs20.x";
  const { default: packaged } = await import("@sparticuz/chromium");
  const path = await packaged.executablePath();
  const { FONTCONFIG_PATH = "", LD_LIBRARY_PATH = "" } = process.env;
  return { path, env: { FONTCONFIG_PATH, LD_LIBRARY_PATH } };
}
