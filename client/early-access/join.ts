// The sign-up request to the server.
import { leavePath, signupPath, tokenParam } from "../shared/paths.ts";
import { earlyAccess, fieldErrors } from "../shared/content.ts";
import { fields } from "../shared/fields.ts";
import type { FormFailure } from "../shared/landing-state.ts";

type FieldErrors = FormFailure["errors"];
/** The key of the toast's text in the content module. */
export type FailureReason = "failure" | "closed";
export interface Failure {
  reason: FailureReason;
  /** Says why, and when to try again. */
  text: string;
  errors: FieldErrors;
}
/** The token to undo the sign-up is undefined if the site sends mails. */
export type JoinResult = { ok: true; undo?: string | undefined } | ({ ok: false } & Failure);

/** In milliseconds; without a response by then, the sign-up counts as failed. */
export const timeout = 15_000;

/**
 * Sends an entry to the server. Never rejects: it logs a failure and returns the server's error for each field. Returns undefined
 * if a proxy answered with a page, such as a challenge or a network's log-in (captive portal), which only a plain form post shows.
 * @param referrer the URL of the page that linked here; only its host is sent. The server reads the campaign from the
 *   Referer header of this request.
 * @throws if this browser cannot create the request.
 */
export function join(entry: Record<string, unknown>, referrer: string): Promise<JoinResult | undefined> {
  const request = fetch(signupPath, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ...entry, source: { referrer: externalHost(referrer) } }),
    signal: AbortSignal.timeout(timeout),
    redirect: "manual",
  });
  return readResult(request, entry);
}

async function readResult(request: Promise<Response>, entry: Record<string, unknown>): Promise<JoinResult | undefined> {
  try {
    const response = await request;
    // Only 201 means that the entry is stored. A proxy may have replaced its body.
    if (response.status === 201) return { ok: true, undo: await readUndo(response) };
    console.error("Joining the waitlist failed with status", response.status);
    const errors = response.status === 413 ? findLongTexts(entry) : await readErrors(response);
    const text = explain(response) ?? (errors && earlyAccess.failure.text);
    if (text === undefined) return undefined;
    return { ok: false, reason: response.status === 410 ? "closed" : "failure", text, errors: errors ?? {} };
  } catch (error) {
    console.error("Joining the waitlist failed:", error);
    return { ok: false, reason: "failure", text: earlyAccess[navigator.onLine ? "noResponse" : "offline"], errors: {} };
  }
}

/** Says what the status alone tells: a proxy may have replaced the body. */
function explain({ status, headers }: Response): string | undefined {
  if (status === 410) return earlyAccess.closed.text;
  const seconds = Number(headers.get("Retry-After"));
  const refusal = earlyAccess.refusals[status >= 500 ? 503 : status];
  return refusal && seconds > 0 ? `${refusal} ${earlyAccess.wait(seconds)}` : refusal;
}

/** Returns the token, and logs the rest of the response. Never rejects, because the entry is stored. */
async function readUndo(response: Response): Promise<string | undefined> {
  const body = (await response.json().catch(() => undefined)) as { undo?: string } | null | undefined;
  const { undo: token, ...data } = body ?? {};
  console.debug("Joined the waitlist:", data);
  return token;
}

/**
 * Returns whether the server has removed the entry that the sign-up added, if it added one.
 * @throws if this browser cannot create the request.
 */
export function undo(token: string): Promise<boolean> {
  const path = `${leavePath}?${tokenParam}=${token}`;
  const page = fetch(path, { method: "POST", signal: AbortSignal.timeout(timeout) }).then((response) =>
    response.text(),
  );
  return page.then(
    (html) => html.includes('data-page="left"'),
    () => false,
  );
}

/** Returns undefined if the body is not the site's. */
async function readErrors(response: Response): Promise<FieldErrors | undefined> {
  if (!response.headers.get("Content-Type")?.startsWith("application/problem+json")) return undefined;
  const { errors = [] } = (await response.json().catch(() => ({}))) as {
    errors?: { pointer: string; detail: string }[];
  };
  return Object.fromEntries(errors.map(({ pointer, detail }) => [pointer.replace("#/", ""), detail]));
}

/** The server reads no fields from a longer body. */
function findLongTexts(entry: Record<string, unknown>): FieldErrors {
  const long = fields.filter(({ name, maxLength }) => String(entry[name]).length > maxLength);
  return Object.fromEntries(long.map(({ name, maxLength }) => [name, fieldErrors.tooLong(maxLength)]));
}

/** Returns undefined if the referrer is a page of this site, or empty. */
function externalHost(referrer: string): string | undefined {
  const { hostname } = new URL(referrer || location.href);
  return hostname === location.hostname ? undefined : hostname;
}
