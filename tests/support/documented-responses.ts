// The requests that provoke each response of docs/openapi.yaml.
import request, { type Response } from "supertest";
import { createTestApp, noDatabase, testSettings, type TestApp } from "./app.ts";
import { createTestDatabase } from "./database.ts";

const database = await createTestDatabase();
const open = await createTestApp(database.webUrl);
const mailing = await createTestApp(database.webUrl, { undo: false });
const down = await createTestApp(noDatabase);
const limited = await createTestApp(noDatabase, { signups: { limit: 0, windowSeconds: 600 } });
const broken = await createTestApp(noDatabase, { waitlist: { join: () => Promise.reject(new Error("boom")) } });
const closed = await createTestApp(noDatabase, { site: { settings: () => ({ ...testSettings(), closed: true }) } });

const path = "/api/earlyaccess";
const ada = { name: "Ada", email: "ada@example.com", company: "Engines" };
const foreign = { Origin: "https://evil.example" };
const html = { Accept: "text/html" };

type Send = () => PromiseLike<Response>;

const get = (app: TestApp, headers: Record<string, string> = {}): Send => {
  return () => request(app.app).get(path).set(headers);
};

const post = (app: TestApp, body: object | string, headers: Record<string, string>): Send => {
  return () => request(app.app).post(path).set(headers).send(body);
};

const asJson = (app: TestApp, body: object | string, headers = {}) =>
  post(app, body, { "Content-Type": "application/json", ...headers });

const asForm = (app: TestApp, body: object | string, headers = {}) =>
  post(app, body, { "Content-Type": "application/x-www-form-urlencoded", ...html, ...headers });

const both = (...how: Parameters<typeof asJson>) => [asJson(...how), asForm(...how)];

/** The requests by method, path and status. */
export const provoked: Record<string, Send[]> = {
  [`post ${path} 201`]: [asJson(open, ada), asJson(mailing, ada)],
  [`post ${path} 303`]: [asForm(open, ada), asForm(mailing, ada)],
  [`post ${path} 400`]: [asJson(open, "{"), asForm(open, "%")],
  [`post ${path} 403`]: both(open, ada, foreign),
  [`post ${path} 410`]: both(closed, ada),
  [`post ${path} 413`]: both(open, { ...ada, company: "x".repeat(20_000) }),
  [`post ${path} 415`]: [
    ...both(open, ada, { "Content-Encoding": "br" }),
    asJson(open, "x", { "Content-Type": "text/plain" }),
  ],
  [`post ${path} 422`]: both(open, { ...ada, email: "ada@localhost" }),
  [`post ${path} 429`]: both(limited, ada),
  [`post ${path} 500`]: both(broken, ada),
  [`post ${path} 503`]: both(down, ada),
  [`get ${path} 405`]: [get(open), get(open, html)],
  [`get ${path} 410`]: [get(closed), get(closed, html)],
};
