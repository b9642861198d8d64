// A body kept in memory with its compressed forms, and how it is sent: negotiation, ETag, 304 and HEAD.
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Request, Response } from "express";

export interface StoredResponse {
  status: number;
  /** A file extension, from which Express derives the media type. */
  type: string;
  cacheControl: string;
  /** By content coding; identity is always there. */
  bodies: { identity: Buffer; br?: Buffer; gzip?: Buffer };
  etag: string;
}

const brotli = promisify(brotliCompress);
const deflate = promisify(gzip);

export function storeResponse(parts: Omit<StoredResponse, "etag">): StoredResponse {
  return {
    ...parts,
    etag: createHash("sha256").update(parts.bodies.identity).digest("base64url").slice(0, 22),
  };
}

/** Compresses as well as it can: the cost is paid once, at the start. */
export async function compress(identity: Buffer): Promise<StoredResponse["bodies"]> {
  const options = {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_SIZE_HINT]: identity.length,
    },
  };
  const [br, gz] = await Promise.all([brotli(identity, options), deflate(identity, { level: 9 })]);
  return { identity, br, gzip: gz };
}

/** Brotli before gzip where both are welcome, whatever their order in the header: it is the smaller one. */
export function sendStored(req: Request, res: Response, { status, type, cacheControl, bodies, etag }: StoredResponse) {
  const coding = (["br", "gzip"] as const).find((name) => bodies[name] && req.acceptsEncodings(name));
  res.status(status).type(type).set({ "Cache-Control": cacheControl, Vary: "Accept-Encoding" });
  res.set("ETag", `"${etag}${coding ? `-${coding}` : ""}"`);
  if (coding) res.set("Content-Encoding", coding);
  res.send(bodies[coding ?? "identity"]);
}
