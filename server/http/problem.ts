// Problem documents: errors as JSON (RFC 9457).
import { STATUS_CODES } from "node:http";
import type { HttpError } from "./http-error.ts";

/** Returns the headers that every response to an error has, whatever its body. */
export function errorHeaders({ extra }: HttpError): Record<string, string> {
  return { "Cache-Control": "no-store", ...extra.headers };
}

/** Returns the body of an error's problem document, and the headers of that body. */
export function problemDocument({ status, detail, extra }: HttpError): {
  headers: Record<string, string>;
  body: string;
} {
  const errors = Object.entries(extra.fields ?? {}).map(([name, text]) => ({ pointer: `#/${name}`, detail: text }));
  const body = JSON.stringify({
    type: "about:blank",
    title: STATUS_CODES[status],
    status,
    detail,
    ...(errors.length > 0 ? { errors } : {}),
  });
  const headers = { "Content-Type": "application/problem+json", "Content-Length": `${Buffer.byteLength(body)}` };
  return { headers, body };
}
