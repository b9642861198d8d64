// What a request is counted as: labels from closed sets, so that no visitor can add one or leave an address in one.
import type { ServerResponse } from "node:http";
import type { Response } from "express";
import { signupPath } from "../../client/addresses.ts";

const named = new Set(["/", signupPath, "/healthz", "/readyz"]);
const methods = new Set(["GET", "HEAD", "POST"]);

/** Why a sign-up was not stored. */
export const refusals = ["invalid", "limit", "ceiling", "cross-site", "unavailable", "fault"] as const;
export type Refusal = (typeof refusals)[number];

/** The address where it is one of ours, and otherwise only what kind of thing was found at it. */
export function routeOf(path: string, status: number): string {
  if (named.has(path)) return path;
  if (status === 404) return "not found";
  if (status >= 400) return "other";
  return path.startsWith("/assets/") ? "asset" : "file";
}

export function methodOf(method = ""): string {
  return methods.has(method) ? method : "other";
}

/** Undefined where the sign-up was stored, or where its visitor left before that was known. */
export function refusalOf(res: ServerResponse): Refusal | undefined {
  const status = res.statusCode;
  if (status < 400) return undefined;
  if (status === 403) return "cross-site";
  if (status === 429) return "limit";
  if (status < 500) return "invalid";
  if (status !== 503) return "fault";
  return (res as Response).locals?.isAboveHourlyLimit ? "ceiling" : "unavailable";
}
