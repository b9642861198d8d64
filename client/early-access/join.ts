// Sends a sign-up to the server.
import { signupPath } from "../addresses.ts";
import type { FormFailure } from "../page-data.ts";

export type FieldErrors = FormFailure["errors"];
export type JoinResult = { ok: true } | { ok: false; errors: FieldErrors };

/** In milliseconds; no answer until then counts as a failure. */
const timeout = 15_000;

/**
 * Never rejects: what goes wrong is logged, and said with the errors that the server named.
 * @param referrer the page that linked here, of which the server gets the host. The campaign it finds in this page's address.
 */
export async function join(entry: Record<string, unknown>, referrer: string): Promise<JoinResult> {
  try {
    const response = await fetch(signupPath, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ ...entry, source: { referrer: foreignHost(referrer) } }),
      signal: AbortSignal.timeout(timeout),
      redirect: "error",
    });
    // Nothing else says that the entry is stored, not even the 200 of a network's own log-in page.
    if (response.status === 201) return { ok: true };
    console.error("Joining the waitlist failed with status", response.status);
    return { ok: false, errors: await readErrors(response) };
  } catch (error) {
    console.error("Joining the waitlist failed:", error);
    return { ok: false, errors: {} };
  }
}

interface Problem {
  errors?: { pointer: string; detail: string }[];
}

async function readErrors(response: Response): Promise<FieldErrors> {
  if (response.status !== 422) return {};
  const { errors = [] } = (await response.json()) as Problem;
  return Object.fromEntries(errors.map(({ pointer, detail }) => [pointer.replace("#/", ""), detail]));
}

function foreignHost(referrer: string): string | undefined {
  const host = URL.canParse(referrer) ? new URL(referrer).hostname : "";
  return host === location.hostname ? undefined : host;
}
