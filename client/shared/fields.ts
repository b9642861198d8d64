// The form's fields: the browser renders them, and the server validates entries against them; what both correct in an address.

export interface Field {
  name: FieldName;
  label: string;
  /** The name within a sentence, as in "Enter your email address." */
  noun: string;
  type: "text" | "email";
  required: boolean;
  /**
   * In Unicode code points of the text in NFC; prisma/schema.prisma has the same limits. The form has no such attribute: a browser
   * would cut a longer paste without a word.
   */
  maxLength: number;
  autoComplete: string;
}

export type FieldName = "name" | "email" | "company" | "job_title";

/**
 * The name of a hidden field that only bots fill in. Browsers and password managers do not autofill this name; they do
 * fill "website", a common name for such fields.
 */
export const honeypot = "message";

export const fields: readonly Field[] = [
  {
    name: "name",
    label: "Name",
    noun: "name",
    type: "text",
    required: true,
    maxLength: 100,
    autoComplete: "name",
  },
  // 254: the longest address that a mail server must accept (RFC 5321, 4.5.3.1.3, without the angle brackets).
  {
    name: "email",
    label: "Email",
    noun: "email address",
    type: "email",
    required: true,
    maxLength: 254,
    autoComplete: "email",
  },
  {
    name: "company",
    label: "Company",
    noun: "company",
    type: "text",
    required: true,
    maxLength: 200,
    autoComplete: "organization",
  },
  {
    name: "job_title",
    label: "Job title (optional)",
    noun: "job title",
    type: "text",
    required: false,
    maxLength: 100,
    autoComplete: "organization-title",
  },
];

/** In UTF-16 code units: the longest name in DNS. Encoding an international domain takes quadratic time. */
const longestDomain = 253;

/**
 * Corrects what an input method or a copied text put into an address: full-width and invisible characters, white space around its
 * parts. Converts an international domain to ASCII, because WebKit refuses others. NFKC would make "adaª" another mailbox.
 */
export function cleanEmail(typed: string): string {
  const parts = typed
    .replace(/[\uFF01-\uFF5E]/g, (character) => String.fromCharCode(character.charCodeAt(0) - 0xfee0))
    .replace(/[\u3002\uFF61]/g, ".")
    .split("@");
  // Domains in Persian and Hindi have joiners.
  const domain =
    parts
      .pop()
      ?.replace(/(?![\u200C\u200D])\p{Cf}/gu, "")
      .trim() ?? "";
  return [...parts.map((part) => part.replace(/\p{Cf}/gu, "").trim()), toAscii(domain)].join("@");
}

/** Returns the domain unchanged if it is ASCII or not valid. A URL would end at "/", decode "%" and drop tabs. */
function toAscii(domain: string): string {
  const isInternational = /\P{ASCII}/u.test(domain) && !/[\p{Cc}/\\?#%:]/u.test(domain);
  if (!isInternational || domain.length > longestDomain) return domain;
  try {
    return new URL(`http://${domain}`).hostname;
  } catch {
    return domain;
  }
}
