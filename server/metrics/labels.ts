// The labels of requests, from closed sets: no visitor can add a label or leave an address in one.
import { signupPath, viewPath } from "../../client/shared/addresses.ts";

const named = new Set(["/", signupPath, viewPath, "/healthz", "/readyz"]);
const methods = new Set(["GET", "HEAD", "POST"]);

/** Returns the path of a route, and for any other path only what was found there. */
export function routeOf(path: string, status: number): string {
  if (named.has(path)) return path;
  if (status === 404) return "not found";
  if (status >= 400) return "other";
  return path.startsWith("/assets/") ? "asset" : "file";
}

export function methodOf(method = ""): string {
  return methods.has(method) ? method : "other";
}
