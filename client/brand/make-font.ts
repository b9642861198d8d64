// Run with `npx tsx client/brand/make-font.ts`: keeps the characters of the site's texts in the font, and leaves out the others.
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
// @ts-expect-error -- has no types
import subsetFont from "subset-font";

const source = import.meta
  .resolve("@fontsource-variable/familjen-grotesk/files/familjen-grotesk-latin-wght-normal.woff2");
const ascii = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).join("");
const kept = ascii.replaceAll(/[#%<=>[\\\]^`{|}~]/g, ""); // Signs of code, which has another font.
const font = await subsetFont(await readFile(fileURLToPath(source)), `${kept}\u00a0©“”’`, {
  targetFormat: "woff2",
});
await writeFile(new URL("familjen-grotesk.woff2", import.meta.url), font);
