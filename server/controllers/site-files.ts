// The built files of the client, held in memory: hashed assets for a year, the others for an hour.
import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import type { RequestHandler } from "express";
import { sendStored, storeResponse, type StoredResponse } from "../views/stored-response.ts";

const hashed = "public, max-age=31536000, immutable";
const named = "public, max-age=3600";

/** Serves what the build left in `folder`, with the compressed forms that lie beside it; the page itself is not a file. */
export async function createSiteFiles(folder: string): Promise<RequestHandler> {
  const files = new Map<string, StoredResponse>();
  for (const path of await listFiles(folder)) {
    const address = `/${relative(folder, path).split(sep).join("/")}`;
    if (/\.(br|gz)$/.test(path) || address === "/index.html") continue;
    files.set(address, await readStored(path, address.startsWith("/assets/") ? hashed : named));
  }
  return function sendSiteFile(req, res, next) {
    const file = req.method === "GET" || req.method === "HEAD" ? files.get(req.path) : undefined;
    if (file) sendStored(req, res, file);
    else next();
  };
}

async function readStored(path: string, cacheControl: string): Promise<StoredResponse> {
  const compressed = (ending: string) => readFile(path + ending).catch(() => undefined);
  const [identity, br, gzip] = await Promise.all([readFile(path), compressed(".br"), compressed(".gz")]);
  return storeResponse({
    status: 200,
    type: extname(path),
    cacheControl,
    bodies: { identity, ...(br && { br }), ...(gzip && { gzip }) },
  });
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, {
    recursive: true,
    withFileTypes: true,
  });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
