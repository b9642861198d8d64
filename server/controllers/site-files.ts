// The built files of the client, held in memory: hashed assets for a year, the others for an hour.
import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { contentType } from "mime-types";
import { storeResponse, type FindStored, type StoredResponse } from "../views/stored-response.ts";

const hashed = "public, max-age=31536000, immutable";
const named = "public, max-age=3600";

/** Reads what the build left in `folder`, with the compressed forms that lie beside it; the page itself is not a file. */
export async function storeSiteFiles(folder: string): Promise<FindStored> {
  const files = new Map<string, StoredResponse>();
  const paths = await listFiles(folder);
  await Promise.all(
    paths.map(async (path) => {
      const address = `/${relative(folder, path).split(sep).join("/")}`;
      if (/\.(br|gz)$/.test(path) || address === "/index.html") return;
      files.set(address, await readStored(path, address.startsWith("/assets/") ? hashed : named));
    }),
  );
  return (path) => files.get(path);
}

async function readStored(path: string, cacheControl: string): Promise<StoredResponse> {
  const compressed = (ending: string) => readFile(path + ending).catch(() => undefined);
  const [identity, br, gzip] = await Promise.all([readFile(path), compressed(".br"), compressed(".gz")]);
  const mediaType = contentType(extname(path)) || "application/octet-stream";
  return storeResponse({ identity, ...(br && { br }), ...(gzip && { gzip }) }, 200, {
    "Content-Type": mediaType,
    "Cache-Control": cacheControl,
  });
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, {
    recursive: true,
    withFileTypes: true,
  });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
