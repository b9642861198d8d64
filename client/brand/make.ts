// npm run brand: makes the font, the icons and the card of shared links again from their sources.
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { chromium, type Page } from "playwright-core";
// @ts-expect-error -- has no types
import subsetFont from "subset-font";
import { findChromium } from "../../tests/support/chromium.ts";

const brand = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const published = (name: string) => fileURLToPath(new URL(`../public/${name}`, import.meta.url));

/** The mark on a tile: how much of the tile it fills, so that round and squircle masks do not cut it. */
const markShare = 0.56;

async function makeFont(): Promise<void> {
  const source = import.meta
    .resolve("@fontsource-variable/familjen-grotesk/files/familjen-grotesk-latin-wght-normal.woff2");
  const ascii = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).join("");
  const font = await subsetFont(await readFile(fileURLToPath(source)), `${ascii}©–“”‘’…é`, { targetFormat: "woff2" });
  await writeFile(brand("familjen-grotesk.woff2"), font);
}

async function tile(page: Page, size: number, transparent: boolean): Promise<Buffer> {
  const mark = await readFile(brand("mark.svg"), "utf8");
  const background = transparent ? "transparent" : "#0f2a1c";
  const share = transparent ? 1 : markShare;
  await page.setViewportSize({ width: size, height: size });
  await page.setContent(
    `<body style="margin:0;display:grid;place-items:center;height:100vh;background:${background}">
      <div style="width:${share * 100}%;line-height:0">${transparent ? mark : mark.replace("#1f8553", "#f4b740")}</div>`,
  );
  return page.screenshot({ omitBackground: transparent });
}

/** An ICO file that holds PNGs, as every browser since 2007 reads them. */
function ico(images: { size: number; png: Buffer }[]): Buffer {
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

await makeFont();
await copyFile(brand("mark.svg"), published("favicon.svg"));
const { path, env } = await findChromium();
const browser = await chromium.launch({
  executablePath: path,
  env: { ...process.env, ...env },
  args: ["--no-sandbox"],
});
const page = await browser.newPage();
const small = [16, 32, 48];
const images = [];
for (const size of small) images.push({ size, png: await tile(page, size, true) });
await writeFile(published("favicon.ico"), ico(images));
await writeFile(published("apple-touch-icon.png"), await tile(page, 180, false));
for (const size of [192, 512]) await writeFile(published(`icon-${size}.png`), await tile(page, size, false));
await page.setViewportSize({ width: 1200, height: 630 });
await page.goto(new URL("social.html", import.meta.url).href, { waitUntil: "networkidle" });
await writeFile(published("social.png"), await page.screenshot());
await browser.close();
