// Where a sign-up came from: the campaign in the page's address, and the site that linked to it.
import { unstorable } from "./storable.ts";

const campaignNames = ["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"] as const;

export const sourceColumns = [...campaignNames, "referrer_host"] as const;

/** Null where nothing is known. */
export type Source = Record<(typeof sourceColumns)[number], string | null>;

/** In characters, as in prisma/schema.prisma. */
const longestValue = 100;
/** The longest name that DNS allows. */
const longestHost = 253;

/**
 * Reads what is given in the body, as `source` of a JSON sign-up or as fields of a form, and otherwise from the
 * address of the page that was signed up on. Nothing here is worth losing a sign-up: what cannot be used is left
 * out, and what is too long is cut.
 * @param page the page's address, which browsers send as Referer.
 */
export function readSource(body: Record<string, unknown>, page = ""): Source {
  const given = isRecord(body.source) ? body.source : body;
  const query = new URLSearchParams(page.split("#", 1)[0]?.split("?")[1]);
  const campaign = campaignNames.map((name) => [name, clean(given[name]) ?? clean(query.get(name))]);
  return { ...(Object.fromEntries(campaign) as Source), referrer_host: hostOf(given.referrer) };
}

/** By hand: for what is none, zod would make an error with every sign-up. */
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function clean(value: unknown): string | null {
  if (typeof value !== "string" || unstorable.test(value)) return null;
  // Cut first: NFC takes quadratic time for a run of combining marks.
  const start = value.trim().slice(0, 10 * longestValue);
  return Array.from(start.normalize("NFC")).slice(0, longestValue).join("").trim() || null;
}

/** @param referrer an address or a host's name. */
function hostOf(referrer: unknown): string | null {
  if (typeof referrer !== "string" || unstorable.test(referrer)) return null;
  // The host alone, and only if it is not too long: to encode an international one takes quadratic time.
  const host = referrer.replace(/^[a-z][a-z\d+.-]*:\/\//i, "").split(/[/?#\\]/, 1)[0] ?? "";
  if (host.length > longestHost || !URL.canParse(`https://${host}`)) return null;
  const { hostname } = new URL(`https://${host}`);
  return hostname.length <= longestHost ? hostname || null : null;
}
