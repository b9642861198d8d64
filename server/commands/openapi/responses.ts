// Parts of the OpenAPI document: headers, problem documents, pages and other responses.
import { STATUS_CODES } from "node:http";

/** One item for the client, and one for its network unless the client's limit refused the request. */
const limitItems = (item: string) => `^"client"; ${item}(?:, "network"; ${item})?$`;

export const headers = {
  "Accept-Encoding": { description: "Sent if the request has another content coding.", schema: { const: "identity" } },
  Allow: { description: "The methods of this path.", schema: { const: "POST" } },
  "Cache-Control": { description: "No cache may keep the response.", schema: { const: "no-store" } },
  Location: {
    description: "The page with the success message, and the token if mails are off.",
    schema: { type: "string", pattern: String.raw`^/\?joined(?:&undo=[\w-]{22})?#early-access$` },
  },
  RateLimit: {
    description: "Requests that remain in the window (r), and the seconds to its end (t).",
    schema: { type: "string", pattern: limitItems(String.raw`r=\d+; t=\d+`) },
  },
  "RateLimit-Policy": {
    description: "Requests per window (q), and its length in seconds (w).",
    schema: { type: "string", pattern: limitItems(String.raw`q=\d+; w=\d+; pk=:[\w+/=]+:`) },
  },
  "Retry-After": { description: "Seconds to wait.", schema: { type: "integer", minimum: 1 } },
};

type HeaderName = keyof typeof headers;

/** Of every request that the rate limiter counts. */
export const counted = ["RateLimit", "RateLimit-Policy"] as const;

const html = { "text/html": { schema: { type: "string" } } };

const refer = (names: readonly HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

export const page = (description: string, names: readonly HeaderName[] = []) => ({
  description,
  headers: refer(names),
  content: html,
});

export const json = (description: string, schema: object, names: readonly HeaderName[] = []) => ({
  description,
  headers: refer(["Cache-Control", ...names]),
  content: { "application/json": { schema } },
});

export interface ProblemOptions {
  headers?: readonly HeaderName[];
  errors?: { pointer: string; detail: string }[];
  /** Whether a client that prefers HTML gets a page. */
  hasPage?: boolean;
}

/**
 * Returns the response under its status.
 * @param detail one that the server sends.
 */
export function problem(status: number, description: string, detail: string, options: ProblemOptions = {}) {
  const { headers: names = [], errors, hasPage = true } = options;
  const example = { type: "about:blank", title: STATUS_CODES[status], status, detail, ...(errors && { errors }) };
  const schema = { $ref: "#/components/schemas/Problem", properties: { status: { const: status } } };
  return {
    [status]: {
      description,
      headers: refer(["Cache-Control", ...names]),
      content: { "application/problem+json": { schema, example }, ...(hasPage && html) },
    },
  };
}
