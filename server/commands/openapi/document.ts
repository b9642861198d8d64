// The OpenAPI document of the public endpoints.
import { stringify } from "yaml";
import { confirmPath, leavePath, signupPath, tokenQuery } from "../../../client/addresses.ts";
import { earlyAccess, fieldErrors } from "../../../client/content.ts";
import { counted, headers, json, page, problem, type ProblemOptions } from "./responses.ts";
import { schemas, source, token } from "./schemas.ts";

const limited = (options: ProblemOptions = {}) => ({ headers: counted, ...options });
const waiting = [...counted, "Retry-After"] as const;
const entry = { $ref: "#/components/schemas/Entry" };

const closed = (options?: ProblemOptions) =>
  problem(410, "The list is closed.", `${earlyAccess.closed.title}.`, options);

const tooMany = (options?: ProblemOptions) =>
  problem(429, "Too many requests.", "Too many requests from this network. Wait as long as Retry-After says.", {
    headers: waiting,
    ...options,
  });

const unavailable = problem(
  503,
  "The database is not available.",
  "The waitlist can't be changed right now. Please try again.",
  { headers: waiting },
);

const signUp = {
  summary: "Joins the waitlist",
  description: "The response is the same for a new and a known address. Unknown keys are ignored.",
  requestBody: {
    required: true,
    description: "At most 16 KiB, in UTF-8.",
    content: {
      "application/json": {
        schema: { ...entry, properties: { source: { type: "object", properties: source } } },
        example: { name: "Ada Lovelace", email: "ada@example.com", company: "Analytical Engines" },
      },
      "application/x-www-form-urlencoded": { schema: { ...entry, properties: source } },
    },
  },
  responses: {
    201: json("The entry is stored.", { $ref: "#/components/schemas/Joined" }, counted),
    303: page("The entry is stored, and the client posted a form and prefers HTML.", [
      "Cache-Control",
      "Location",
      ...counted,
    ]),
    ...problem(400, "The body cannot be read.", "The body is not valid JSON.", limited()),
    ...problem(403, "Another site sent the form.", "Sign-ups are accepted from this site's own pages only."),
    ...closed(limited()),
    ...problem(413, "The body is too long.", "The body is longer than 16384 bytes.", limited()),
    ...problem(
      415,
      "The content type, the charset or the content coding is not supported.",
      "Send application/json or application/x-www-form-urlencoded.",
      { headers: [...counted, "Accept-Encoding"] },
    ),
    ...problem(
      422,
      "A field is not valid. A form post with a mistyped address gets a page with a question.",
      "Some fields are not valid.",
      limited({ errors: [{ pointer: "#/email", detail: fieldErrors.email }] }),
    ),
    ...tooMany(),
    ...problem(500, "The server has a fault.", "Something went wrong. Please try again.", limited()),
    ...unavailable,
  },
};

const otherMethod = {
  summary: "Is not allowed, as every other method",
  responses: { ...problem(405, "Use POST.", "Use POST.", { headers: ["Allow"] }), ...closed() },
};

const link = (summary: string) => ({
  post: {
    summary,
    description: "The response is the same whether an entry has the token or not. The body is ignored.",
    parameters: [{ name: tokenQuery, in: "query", required: true, schema: token }],
    responses: {
      200: page("The request is accepted.", ["Cache-Control", ...counted]),
      404: page("The token is missing or malformed."),
      ...tooMany({ hasPage: false }),
      ...unavailable,
    },
  },
});

const probe = (summary: string, responses: Record<number, string>) => ({
  get: {
    summary,
    responses: Object.fromEntries(
      Object.entries(responses).map(([code, status]) => {
        const schema = { type: "object", properties: { status: { const: status } }, required: ["status"] };
        return [code, json(code === "200" ? "Yes." : "No.", schema)];
      }),
    ),
  },
});

const document = {
  openapi: "3.1.1",
  info: {
    title: "Perennial early access",
    version: "1",
    description:
      "HEAD works wherever GET does. A request that is not valid HTTP gets a problem document with 400, 408, 413 or 431.",
  },
  servers: [{ url: "/" }],
  paths: {
    [signupPath]: { post: signUp, get: otherMethod },
    [leavePath]: link("Deletes the entry with this token"),
    [confirmPath]: link("Confirms the address of the entry with this token"),
    "/healthz": probe("Whether the process responds", { 200: "ok" }),
    "/readyz": probe("Whether entries can be stored", { 200: "ok", 503: "database unavailable" }),
  },
  components: { headers, schemas },
};

/** Returns the content of docs/openapi.yaml. */
export function openapiText(): string {
  const heading = "# The HTTP contract of the public endpoints. `npm run openapi` writes this file.\n";
  return heading + stringify(document, { lineWidth: 0, aliasDuplicateObjects: false });
}
