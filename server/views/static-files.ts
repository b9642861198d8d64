// The client's built files, held in memory.
import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { contentType } from "mime-types";
import { cacheResponse, type Cache, type CachedResponse } from "../http/cached-response.ts";

/** Files below /assets/ have a hash in their name. */
const hashedCaching = "public, max-age=31536000, immutable";
const otherCaching = "public, max-age=3600";

/** Reads the folder's files and the compressed variants beside them, without index.html, which is a template. */
export async function readStaticFiles(folder: string): Promise<Cache> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const files = paths
    .filter((path) => !/\.(?:br|gz)$/.test(path) && path !== join(folder, "index.html"))
    .map(async (path) => {
      const address = `/${relative(folder, path).split(sep).join("/")}`;
      return [address, await readCached(path, address.startsWith("/assets/") ? hashedCaching : otherCaching)] as const;
    });
  return new Map(await Promise.all(files));
}

async function readCached(path: string, caching: string): Promise<CachedResponse> {
  const readVariant = (ending: string) => readFile(path + ending).catch(() => undefined);
  const [identity, br, gzip] = await Promise.all([readFile(path), readVariant(".br"), readVariant(".gz")]);
  const mediaType = contentType(extname(path)) || "application/octet-stream";
  const headers = { "Content-Type": mediaType, "Cache-Control": caching };
  return cacheResponse({ identity, ...(br && { br }), ...(gzip && { gzip }) }, 200, headers);
}
