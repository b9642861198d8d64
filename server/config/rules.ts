// The rules of settings' values. The error of each completes the sentence "NAME must be …".
import { z } from "zod";

export const wholeNumber = (min: number, max: number, unit?: string) => {
  const rule = `a whole number${unit ? ` of ${unit}` : ""} from ${min} to ${max}`;
  return z
    .string()
    .refine((text) => /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max, rule)
    .transform(Number);
};

const unconfirmedRule = "0 (keeps them) or a whole number of days from 7 to 365";
/** Not fewer than 7: a mail may wait for four days. */
export const unconfirmedDays = z
  .string()
  .regex(/^\d{1,3}$/, unconfirmedRule)
  .transform(Number)
  .refine((days) => days === 0 || (days >= 7 && days <= 365), unconfirmedRule);

export const trueOrFalse = z.enum(["true", "false"], "true or false").transform((text) => text === "true");

export const host = z.union([z.ipv6(), z.hostname()], "an IP address or host name to listen on");

const url = (rule: string, isValid: (url: URL) => boolean) =>
  z.string().refine((text) => URL.canParse(text) && isValid(new URL(text)), { error: rule, abort: true });

const httpUrl = (rule: string, isValid: (url: URL) => boolean) =>
  url(rule, (parsed) => /^https?:$/.test(parsed.protocol) && isValid(parsed));

export const originUrl = httpUrl(
  "the site's http or https origin, without a path (docker compose: DOMAIN is a host name alone)",
  ({ href, origin }) => href === `${origin}/`,
).transform((text) => new URL(text).origin);

export const webhookUrl = httpUrl(
  "an http or https URL without user and password",
  ({ username, password }) => username === "" && password === "",
);

/** A secret in the format of Standard Webhooks. */
export const webhookSecret = z
  .string()
  .regex(/^whsec_[a-z\d+/]{32,86}={0,2}$/i, '"whsec_" and 24 to 64 bytes as base64, from: openssl rand -base64 32');

export const printableLine = z.string().regex(/^\P{C}{1,1000}$/u, "one line of at most 1,000 characters");

export const legalLinks = z
  .string()
  .transform((text) =>
    text.split(",").map((link) => {
      const [, label = "", target = ""] = /^\s*([^=]+?)\s*=\s*(\S+)\s*$/.exec(link) ?? [];
      return { label, url: target };
    }),
  )
  .refine(
    (links) => links.every(({ url: target }) => URL.canParse(target) && new URL(target).protocol === "https:"),
    "Label=https://… pairs, separated by commas",
  );

export const mailServerUrl = url(
  "an smtp:// or smtps:// URL (port 465: smtps, 25 and 587: smtp), special characters in the password percent-encoded",
  ({ protocol, hostname, port, username, password, pathname, search, hash }) =>
    (protocol === "smtps:" ? port !== "25" && port !== "587" : protocol === "smtp:" && port !== "465") &&
    hostname !== "" &&
    (username === "") === (password === "") &&
    pathname.replace("/", "") + search + hash === "" &&
    isDecodable(`${username}:${password}`),
);

/** An address, or a name and an address; without quotes and special characters, which a name rarely needs. */
export const mailFrom = z.string().transform((text, context) => {
  const [, name = "", email = text] = /^\s*([^"<>()[\]\\,;:@\p{C}]{1,100}?)\s*<([^<>]+)>\s*$/u.exec(text) ?? [];
  if (z.email().safeParse(email.trim()).success) return { name, address: email.trim() };
  context.addIssue(
    "an email address, or a name and an address in <>; the name without quotes, commas and other special characters",
  );
  return z.NEVER;
});

/** Returns whether the text is valid percent-encoding of UTF-8. */
export function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== undefined; // The bundler would remove a call whose result is not used.
  } catch {
    return false;
  }
}
