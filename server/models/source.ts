// The source of a sign-up or page view (campaign parameters and referring site), and the characters that no stored text may contain.
import { mayHoldEmail } from "../errors.ts";
import { campaignColumns, type sourceColumns } from "../database/columns.ts";

/** Control characters and lone surrogates, which Postgres or mail cannot represent, and U+FFFD, which a decoder puts in place of invalid bytes. */
export const unstorableCharacters = /[\p{Cc}\p{Cs}\uFFFD]/u;

/** The name for views and sign-ups without a source. */
export const directSource = "direct";
/** The name for the views of further sources, if there are very many. */
export const otherSources = "other";

/** An SQL expression: utm_source, else the host of the site that linked to the page, else direct. */
export const sourceSql = `coalesce(nullif(utm_source, ''), nullif(referrer_host, ''), '${directSource}')`;

/** Null if unknown. */
export type Source = Record<(typeof sourceColumns)[number], string | null>;

/** In characters, as in prisma/schema.prisma. */
const longestValue = 100;
/** The longest name that DNS allows. */
const longestHost = 253;

/**
 * Reads the source from the body: `source` in a JSON sign-up, or fields of a form. Parameters that the body lacks are read from
 * the page's URL. A bad source never fails a sign-up: a long value is cut, and an invalid one becomes null. So does an email
 * address, because some links name their reader with it.
 * @param page the page's URL, which browsers send as Referer.
 */
export function readSource(body: Record<string, unknown>, page = ""): Source {
  const given = isRecord(body.source) ? body.source : body;
  const query = new URLSearchParams(page.split("?")[1]);
  const campaign = campaignColumns.map((name) => [name, clean(given[name]) ?? clean(query.get(name))]);
  const utm_source = cleanSource(given.utm_source) ?? cleanSource(query.get("utm_source"));
  return { ...(Object.fromEntries(campaign) as Source), utm_source, referrer_host: hostOf(given.referrer) };
}

/** Returns the source of a page view, with the same rule as `sourceSql`. */
export function viewSource(query: URLSearchParams, ownHosts: string[]): string {
  const host = hostOf(query.get("referrer"));
  const isOther = host !== null && !ownHosts.includes(host);
  return cleanSource(query.get("utm_source")) ?? (isOther ? host : directSource);
}

/** zod would create an error for each sign-up without a source. */
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** In lower case: the links of one campaign say Newsletter and newsletter. */
const cleanSource = (value: unknown) => clean(typeof value === "string" ? value.toLowerCase() : value);

function clean(value: unknown): string | null {
  if (typeof value !== "string") return null;
  // Cut first: NFC takes quadratic time for combining marks. Three code units are enough for each character.
  const start = value.trim().slice(0, 3 * longestValue);
  if (unstorableCharacters.test(start) || mayHoldEmail(start)) return null;
  return Array.from(start.normalize("NFC")).slice(0, longestValue).join("").trim() || null;
}

/** @param referrer a URL or a host name. */
function hostOf(referrer: unknown): string | null {
  if (typeof referrer !== "string") return null;
  // Cut first: encoding an international name takes quadratic time.
  const start = referrer.replace(/^[a-z][a-z\d+.-]*:\/\//i, "").slice(0, longestHost + ":65535".length);
  const host = start.split(/[/\\]/, 1)[0] ?? "";
  try {
    const { hostname } = new URL(`https://${host}`);
    return hostname.length <= longestHost ? hostname : null;
  } catch {
    return null;
  }
}
