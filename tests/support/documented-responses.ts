// The requests that provoke each response of docs/openapi.yaml.
import request, { type Response } from "supertest";
import type { AppOptions } from "../../server/app.ts";
import { noDatabase, testSettings, type TestApp } from "./app.ts";

export const path = "/api/earlyaccess";
export const ada = { name: "Ada", email: "ada@example.com", company: "Engines" };

const limited = { signups: { limit: 0, windowSeconds: 600 } };
const site = { origin: "http://localhost:3000", allowIndexing: true, settings: testSettings };
const closed = { site: { ...site, settings: () => ({ ...testSettings(), closed: true }) } };
const broken = { waitlist: { join: () => Promise.reject(new Error("boom")) } };
const foreign = { Origin: "https://evil.example" };
const html = { Accept: "text/html" };

type GetApp = () => TestApp | Promise<TestApp>;
type Send = () => Promise<Response>;
type Headers = Record<string, string>;

const get = (app: GetApp, address: string, headers: Headers = {}) => {
  return async () =>
    request((await app()).app)
      .get(address)
      .set(headers);
};

const post = (app: GetApp, address: string, headers: Headers = {}, body?: object | string) => {
  return async () =>
    request((await app()).app)
      .post(address)
      .set(headers)
      .send(body);
};

const asJson = (app: GetApp, body: object | string, headers: Headers = {}) =>
  post(app, path, { "Content-Type": "application/json", ...headers }, body);

const asForm = (app: GetApp, body: object | string, headers: Headers = {}) =>
  post(app, path, { "Content-Type": "application/x-www-form-urlencoded", ...html, ...headers }, body);

const both = (...how: Parameters<typeof asJson>) => [asJson(...how), asForm(...how)];

/**
 * Returns the requests by method, path and status.
 * @param open returns the app of an open list.
 * @param create returns a new app; undefined stands for the database of the test.
 */
export function requestsByResponse(
  open: GetApp,
  create: (webUrl: string | undefined, changes?: Partial<AppOptions>) => Promise<TestApp>,
): Record<string, Send[]> {
  const mailing = () => create(undefined, { undo: false });
  const app = (changes: Partial<AppOptions>) => () => create(noDatabase, changes);
  const link = (address: string) => {
    const valid = `${address}?token=${"A".repeat(22)}`;
    return {
      [`post ${address} 200`]: [post(open, valid)],
      [`post ${address} 404`]: [post(open, address), post(open, `${address}?token=short`)],
      [`post ${address} 429`]: [post(app(limited), valid)],
      [`post ${address} 503`]: [post(app({}), valid), post(app({}), valid, html)],
    };
  };
  return {
    [`post ${path} 201`]: [asJson(open, ada), asJson(mailing, ada)],
    [`post ${path} 303`]: [asForm(open, ada), asForm(mailing, ada)],
    [`post ${path} 400`]: [asJson(open, "{"), asForm(open, "%")],
    [`post ${path} 403`]: both(open, ada, foreign),
    [`post ${path} 410`]: both(app(closed), ada),
    [`post ${path} 413`]: both(open, { ...ada, company: "x".repeat(20_000) }),
    [`post ${path} 415`]: [
      ...both(open, ada, { "Content-Encoding": "br" }),
      asJson(open, "x", { "Content-Type": "text/plain" }),
    ],
    [`post ${path} 422`]: both(open, { ...ada, email: "ada@localhost" }),
    [`post ${path} 429`]: both(app(limited), ada),
    [`post ${path} 500`]: both(app(broken), ada),
    [`post ${path} 503`]: both(app({}), ada),
    [`get ${path} 405`]: [get(open, path), get(open, path, html)],
    [`get ${path} 410`]: [get(app(closed), path), get(app(closed), path, html)],
    ...link("/leave"),
    ...link("/confirm"),
    "post /api/view 204": [post(open, "/api/view?utm_source=a&referrer=b.example")],
    "post /api/view 403": [post(open, "/api/view", foreign), post(open, "/api/view", { ...html, ...foreign })],
    "get /api/view 405": [get(open, "/api/view"), get(open, "/api/view", html)],
    "get /healthz 200": [get(open, "/healthz")],
    "get /readyz 200": [get(open, "/readyz")],
    "get /readyz 503": [get(app({}), "/readyz")],
  };
}
