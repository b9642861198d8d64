// The command `npm run brand`: generates the font, the icons (from favicon.svg) and the social card (from social.html).
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { chromium, type Page } from "playwright-core";
// @ts-expect-error -- has no types
import subsetFont from "subset-font";

const asset = (name: string) => new URL(`../public/${name}`, import.meta.url);

/** The width of the drawing on a coloured tile, as a share of the tile: the mark just fits the circle that no icon mask cuts. */
const markShare = 0.72;

async function makeFont(): Promise<void> {
  const source = import.meta
    .resolve("@fontsource-variable/familjen-grotesk/files/familjen-grotesk-latin-wght-normal.woff2");
  const ascii = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).join("");
  const font = await subsetFont(await readFile(fileURLToPath(source)), `${ascii}\u00a0©×–“”‘’…é`, {
    targetFormat: "woff2",
  });
  await writeFile(new URL("familjen-grotesk.woff2", import.meta.url), font);
}

async function renderIcon(page: Page, size: number, transparent: boolean): Promise<Buffer> {
  const mark = await readFile(asset("favicon.svg"), "utf8");
  const background = transparent ? "transparent" : "#0f2a1c";
  const share = transparent ? 1 : markShare;
  await page.setViewportSize({ width: size, height: size });
  await page.setContent(
    `<body style="margin:0;display:grid;place-items:center;height:100vh;background:${background}">
      <div style="width:${share * 100}%;line-height:0">${transparent ? mark : mark.replace("#1f8553", "#f4b740")}</div>`,
  );
  return page.screenshot({ omitBackground: transparent });
}

/** Encodes an ICO file that contains PNG images. */
function encodeIco(images: { size: number; png: Buffer }[]): Buffer {
  const header = Buffer.alloc(6 + 16 * images.length);
  header.writeUInt16LE(1, 2);
  header.writeUInt16LE(images.length, 4);
  let offset = header.length;
  for (const [i, { size, png }] of images.entries()) {
    const entry = 6 + 16 * i;
    header.writeUInt8(size, entry);
    header.writeUInt8(size, entry + 1);
    header.writeUInt16LE(1, entry + 4);
    header.writeUInt16LE(32, entry + 6);
    header.writeUInt32LE(png.length, entry + 8);
    header.writeUInt32LE(offset, entry + 12);
    offset += png.length;
  }
  return Buffer.concat([header, ...images.map(({ png }) => png)]);
}

const executablePath = process.env.CHROMIUM_PATH;
if (!executablePath) throw new Error("Set CHROMIUM_PATH to the path of Chrome or Chromium, which renders the images.");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
await makeFont();
const page = await browser.newPage();
const images = [];
for (const size of [16, 32, 48]) images.push({ size, png: await renderIcon(page, size, true) });
await writeFile(asset("favicon.ico"), encodeIco(images));
await writeFile(asset("apple-touch-icon.png"), await renderIcon(page, 180, false));
for (const size of [192, 512]) await writeFile(asset(`icon-${size}.png`), await renderIcon(page, size, false));
await page.setViewportSize({ width: 1200, height: 630 });
await page.goto(new URL("social.html", import.meta.url).href, { waitUntil: "networkidle" });
await writeFile(asset("social.png"), await page.screenshot());
await browser.close();
