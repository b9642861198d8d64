// An answer kept in memory with its compressed forms, and how it is sent: negotiation, 304, ranges and HEAD.
import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import fresh from "fresh";
import parseRange from "range-parser";
import { acceptedCodings, readHeader, type Coding } from "../negotiation.ts";

/** The answer ready for the address; pages are told apart by their query as well. */
export type FindStored = (path: string, query: string) => StoredResponse | undefined;

export interface StoredResponse {
  status: number;
  /** By content coding; identity is always there. */
  forms: Partial<Record<Coding, Form>> & { identity: Form };
}

interface Form {
  body: Buffer;
  etag: string;
  /** Names and values by turns, as writeHead takes them at the least cost. */
  headers: readonly string[];
  /** Those of a 304: what a cache has to know, and nothing of the body. */
  unchanged: readonly string[];
}

type Bodies = Partial<Record<Coding, Buffer>> & { identity: Buffer };

export function storeResponse(bodies: Bodies, status: number, headers: Record<string, string>): StoredResponse {
  const { "Content-Type": mediaType = "", ...caching } = headers;
  const form = (body: Buffer, ...encoding: string[]): Form => {
    const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
    const unchanged = Object.entries({ ...caching, Vary: "Accept-Encoding", ETag: etag }).flat();
    const ranges = status === 200 ? ["Accept-Ranges", "bytes"] : [];
    return { body, etag, unchanged, headers: ["Content-Type", mediaType, ...unchanged, ...ranges, ...encoding] };
  };
  const { identity, br, gzip: gz } = bodies;
  return {
    status,
    forms: {
      identity: form(identity),
      ...(br && { br: form(br, "Content-Encoding", "br") }),
      ...(gz && { gzip: form(gz, "Content-Encoding", "gzip") }),
    },
  };
}

const brotli = promisify(brotliCompress);
const deflate = promisify(gzip);

/** Compresses as well as it can: the cost is paid once, at the start. */
export async function compress(identity: Buffer): Promise<Bodies> {
  const options = {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_SIZE_HINT]: identity.length,
    },
  };
  const [br, gz] = await Promise.all([brotli(identity, options), deflate(identity, { level: 9 })]);
  return { identity, br, gzip: gz };
}

/** @param common headers of every answer, names and values by turns. */
export function sendStored(
  req: IncomingMessage,
  res: ServerResponse,
  { status, forms }: StoredResponse,
  common: readonly string[],
): void {
  const coding = acceptedCodings(req).find((name) => forms[name]) ?? "identity";
  const { body, etag, headers, unchanged } = forms[coding] as Form;
  if (status === 200 && readHeader(req.headers, "if-none-match") && fresh(req.headers, { etag })) {
    res.writeHead(304, [...common, ...unchanged]).end();
    return;
  }
  const range = status === 200 && req.method === "GET" ? requestedRange(req, body.length, etag) : undefined;
  if (range === "unsatisfiable") {
    res.writeHead(416, [...common, "Content-Range", `bytes */${body.length}`, "Content-Length", "0"]).end();
  } else if (range) {
    const part = body.subarray(range.start, range.end + 1);
    const place = `bytes ${range.start}-${range.end}/${body.length}`;
    res.writeHead(206, [...common, ...headers, "Content-Range", place, "Content-Length", `${part.length}`]).end(part);
  } else {
    res.writeHead(status, [...common, ...headers, "Content-Length", `${body.length}`]).end(body);
  }
}

/** One range; a request for several gets the whole, as RFC 9110 allows. */
function requestedRange({ headers }: IncomingMessage, size: number, etag: string) {
  const range = readHeader(headers, "range");
  // Another unit has no meaning here; range-parser would find it unsatisfiable.
  if (range === undefined || !/^bytes=/i.test(range)) return undefined;
  const precondition = headers["if-range"];
  if (precondition !== undefined && precondition !== etag) return undefined;
  const ranges = parseRange(size, range, { combine: true });
  // More of the end than there is means all of it, which range-parser 1.3 takes for nothing.
  if (ranges === -1) return /^bytes=\s*-\s*0*[1-9]/i.test(range) ? undefined : "unsatisfiable";
  return ranges !== -2 && ranges.length === 1 ? ranges[0] : undefined;
}
