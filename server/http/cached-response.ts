// Responses kept in memory with their compressed bodies, and how they are sent: content coding, 304 and HEAD.
// The Cache-Control of pages: views/page-cache.ts; of files: views/frontend.ts.
import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import fresh from "fresh";
import Negotiator from "negotiator";
import { isRead } from "./negotiation.ts";

/** Without no-transform, CDNs rewrite pages: Cloudflare replaces each email address by a script that the CSP forbids. */
export const noStore = { "Cache-Control": "no-store, no-transform" };

/** For a page that answers a POST, whose body has no token: Back shows it again, with what the visitor typed. */
const afterPost = ["Cache-Control", "private, no-cache, no-transform"];

/** Sorted by the size of their bodies, the smallest first. */
const codings = ["br", "gzip", "identity"] as const;
type Coding = (typeof codings)[number];

/** By path. */
export type Cache = ReadonlyMap<string, CachedResponse>;

export interface CachedResponse {
  status: number;
  /** The caching headers of a response to GET, `[name, value, …]`. */
  caching: readonly string[];
  variants: Partial<Record<Coding, Variant>> & { identity: Variant };
}

interface Variant {
  body: Buffer;
  etag: string;
  /** Flat lists of headers, `[name, value, …]`, the form that costs writeHead least. */
  headers: readonly string[];
  notModified: readonly string[];
}

type Bodies = Partial<Record<Coding, Buffer>> & { identity: Buffer };

/** @param headers Content-Type, and the caching headers. */
export function cacheResponse(bodies: Bodies, status: number, headers: Record<string, string>): CachedResponse {
  const { "Content-Type": mediaType = "", ...caching } = headers;
  const variant = (body: Buffer, ...encoding: string[]): Variant => {
    const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
    const notModified = ["Vary", "Accept-Encoding", "ETag", etag];
    const length = ["Content-Length", `${body.length}`];
    return { body, etag, notModified, headers: ["Content-Type", mediaType, ...notModified, ...encoding, ...length] };
  };
  const { identity, br, gzip: gz } = bodies;
  return {
    status,
    caching: Object.entries(caching).flat(),
    variants: {
      identity: variant(identity),
      ...(br && { br: variant(br, "Content-Encoding", "br") }),
      ...(gz && { gzip: variant(gz, "Content-Encoding", "gzip") }),
    },
  };
}

const brotli = promisify(brotliCompress);
const deflate = promisify(gzip);

/**
 * Compresses a body for many responses. Compared to Brotli's quality 11, quality 10 makes the landing page 2 % larger. The start
 * waits for 20 instead of 55 ms of processor time (Node 24, one core of an Intel Xeon).
 */
export async function compress(identity: Buffer): Promise<Bodies> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_SIZE_HINT]: identity.length };
  const [br, gz] = await Promise.all([brotli(identity, { params }), deflate(identity, { level: 9 })]);
  return { identity, br, gzip: gz };
}

/** Characters of Accept-Encoding that count; browsers send 30. Negotiator takes a millisecond for 15 KB. */
const longestAcceptEncoding = 200;

/** Sends the smallest variant that the client accepts, or a 304 if a GET or HEAD has its ETag. */
export function sendCached(
  req: IncomingMessage,
  res: ServerResponse,
  response: CachedResponse,
  headers: readonly string[] = [],
): void {
  const { status, variants } = response;
  const encodings = (req.headers["accept-encoding"] ?? "").slice(0, longestAcceptEncoding);
  const accepted = new Negotiator({ headers: { "accept-encoding": encodings } }).encodings();
  const coding = codings.find((name) => variants[name] && accepted.includes(name)) ?? "identity";
  const variant = variants[coding] as Variant;
  const caching = isRead(req) ? response.caching : afterPost;
  if (status === 200 && isRead(req) && fresh(req.headers, { etag: variant.etag })) {
    res.writeHead(304, [...headers, ...caching, ...variant.notModified]).end();
  } else {
    res.writeHead(status, [...headers, ...caching, ...variant.headers]).end(variant.body);
  }
}
