// docs/openapi.yaml against the running app: the tests provoke every documented status, and every response validates.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import request, { type Response } from "supertest";
import { expect, it } from "vitest";
import { parse, parseDocument } from "yaml";
import { z } from "zod";
import { waitlistEntry } from "../server/models/sign-up-rules.ts";
import { projectRoot } from "../server/config/project-root.ts";
import { createTestApp, noDatabase, testSettings, type TestApp } from "./support/app.ts";
import { createTestDatabase } from "./support/database.ts";

interface Described {
  headers?: Record<string, { $ref: string }>;
  content?: Record<string, { example?: Body }>;
}
type Body = { message?: string; errors?: { pointer: string }[] };
type Operation = { operationId?: string; responses: Record<string, Described | { $ref: string }> };
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { headers: Record<string, { schema: { type?: string } }>; responses: Record<string, Described> };
}

const file = join(projectRoot, "docs/openapi.yaml");
const text = await readFile(file, "utf8");
const document = parse(text) as Document;
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema(document, "openapi");

/** Validates a value against the schema at a place of the document. Returns the errors. */
function errorsOf(value: unknown, ...place: string[]) {
  const pointer = place.map((key) => encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/");
  const validate = ajv.getSchema(`openapi#/${pointer}`);
  if (!validate) throw new Error(`The document has nothing at ${place.join(" ")}`);
  return validate(value) ? [] : validate.errors;
}

const database = await createTestDatabase();
const open = await createTestApp(database.webUrl);
const mailing = await createTestApp(database.webUrl, { undo: false });
const down = await createTestApp(noDatabase);
const limited = await createTestApp(noDatabase, { signupLimit: 0 });
const broken = await createTestApp(noDatabase, { waitlist: { add: () => Promise.reject(new Error("boom")) } });
const closed = await createTestApp(noDatabase, { site: { settings: { ...testSettings, closed: true } } });

const signupPath = "/api/earlyaccess";
const ada = { name: "Ada", email: "ada@example.com", company: "Engines" };
const foreign = { Origin: "https://evil.example" };
const html = { Accept: "text/html" };

type Send = () => PromiseLike<Response>;

const get = (app: TestApp, headers: Record<string, string> = {}): Send => {
  return () => request(app.app).get(signupPath).set(headers);
};

const post = (app: TestApp, body: object | string, headers: Record<string, string>): Send => {
  return () => request(app.app).post(signupPath).set(headers).send(body);
};

const asJson = (app: TestApp, body: object | string, headers = {}) =>
  post(app, body, { "Content-Type": "application/json", ...headers });

const asForm = (app: TestApp, body: object | string, headers = {}) =>
  post(app, body, { "Content-Type": "application/x-www-form-urlencoded", ...html, ...headers });

const both = (...how: Parameters<typeof asJson>) => [asJson(...how), asForm(...how)];

/** The requests by method, path and status. */
const provoked: Record<string, Send[]> = {
  [`post ${signupPath} 201`]: [asJson(open, ada), asJson(mailing, ada)],
  [`post ${signupPath} 303`]: [asForm(open, ada), asForm(mailing, ada)],
  [`post ${signupPath} 400`]: [asJson(open, "{"), asForm(open, "%")],
  [`post ${signupPath} 403`]: both(open, ada, foreign),
  [`post ${signupPath} 410`]: both(closed, ada),
  [`post ${signupPath} 413`]: both(open, { ...ada, company: "x".repeat(20_000) }),
  [`post ${signupPath} 415`]: [
    ...both(open, ada, { "Content-Encoding": "br" }),
    asJson(open, "x", { "Content-Type": "text/plain" }),
  ],
  [`post ${signupPath} 422`]: both(open, { ...ada, email: "ada@localhost" }),
  [`post ${signupPath} 429`]: both(limited, ada),
  [`post ${signupPath} 500`]: both(broken, ada),
  [`post ${signupPath} 503`]: both(down, ada),
  [`get ${signupPath} 405`]: [get(open), get(open, html)],
  [`get ${signupPath} 410`]: [get(closed), get(closed, html)],
};

const documented = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.entries(operations).flatMap(([method, { responses }]) =>
    Object.keys(responses).map((status) => `${method} ${path} ${status}`),
  ),
);

it("docs/openapi.yaml has the schema that the server validates; npm run openapi writes it", async () => {
  const { $schema: _, ...schema } = z.toJSONSchema(waitlistEntry, { io: "input" });
  const description = "The limits apply to the text without surrounding space, in NFC.";
  const expected = parseDocument(text);
  expected.setIn(["components", "schemas", "Entry"], { ...schema, description });
  await expect(expected.toString({ lineWidth: 0 })).toMatchFileSnapshot(file);
});

it("docs/openapi.yaml is a valid OpenAPI document of only those responses that a test provokes", async () => {
  expect(await new Validator().validate(text)).toEqual({ valid: true });
  expect(Object.keys(provoked).toSorted()).toEqual(documented.toSorted());
});

/** Returns the keys beside each `$ref`, below `value`. */
function siblingsOfRefs(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const siblings = "$ref" in value ? Object.keys(value).filter((key) => key !== "$ref") : [];
  return [...siblings, ...Object.values(value).flatMap(siblingsOfRefs)];
}

it("docs/openapi.yaml names each operation, and adds to no schema beside its $ref: generators of clients would lose that", () => {
  const harmless = new Set(["description", "summary"]);
  expect(siblingsOfRefs(document).filter((key) => !harmless.has(key))).toEqual([]);
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  const names = operations.map(({ operationId }) => operationId);
  expect(names).not.toContain(undefined);
  expect(new Set(names).size).toBe(operations.length);
});

it.each(documented)("the response %s has the status, headers and body of docs/openapi.yaml", async (name) => {
  const [method = "", path = "", status = ""] = name.split(" ");
  const { place, headers = {}, content = {} } = findResponse(path, method, status);
  const types = new Set<string>();
  const bodies: (Body | string)[] = [];
  for (const send of provoked[name] ?? []) {
    const response = await send();
    expect(response.status).toBe(Number(status));
    expectHeaders(response, headers);
    types.add(response.type);
    const body = (response.type === "text/html" ? response.text : JSON.parse(response.text)) as Body | string;
    bodies.push(body);
    expect(errorsOf(body, ...place, "content", response.type, "schema")).toEqual([]);
  }
  expect([...types].toSorted()).toEqual(Object.keys(content).toSorted());
  for (const { example } of Object.values(content)) {
    if (example) expect(bodies.map(withoutCopy)).toContainEqual(withoutCopy(example));
  }
});

/** Returns the body without its message and the details of its errors: an example quotes the copy, which may be edited. */
function withoutCopy(body: Body | string): object {
  const { message: _, errors = [], ...rest } = body as Body;
  return { ...rest, errors: errors.map(({ pointer }) => pointer) };
}

/** Returns a response and its place in the document. */
function findResponse(path: string, method: string, status: string): Described & { place: string[] } {
  const response = document.paths[path]?.[method]?.responses[status];
  if (!response) throw new Error(`The document has no response ${status}`);
  if (!("$ref" in response)) return { ...response, place: ["paths", path, method, "responses", status] };
  const place = response.$ref.split("/").slice(1);
  return { ...document.components.responses[place.at(-1) as string], place };
}

/** Expects the documented headers with valid values. */
function expectHeaders(response: Response, headers: object) {
  for (const header of Object.keys(headers)) {
    const value = response.headers[header.toLowerCase()] as string;
    const isNumber = document.components.headers[header]?.schema.type === "integer";
    expect(errorsOf(isNumber ? Number(value) : value, "components", "headers", header, "schema")).toEqual([]);
  }
}
