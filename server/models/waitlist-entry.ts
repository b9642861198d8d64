// What a waitlist entry must be: the zod schema that every sign-up passes.
import { domainToASCII } from "node:url";
import { z } from "zod";
import { fieldErrors } from "../../client/content.ts";
import { fields, honeypot, type Field, type FieldName } from "../../client/early-access/fields.ts";
import { isDisposable } from "./disposable-email.ts";
import { readSource, sourceColumns, type Source } from "./source.ts";
import { unstorable } from "./storable.ts";

export interface WaitlistEntry extends Source {
  name: string;
  /** Lower-cased, its domain in ASCII. */
  email: string;
  company: string;
  job_title: string | null;
  /** The field that people do not see was filled in. */
  suspected_spam: boolean;
  /** The address is of a known provider of throw-away addresses. */
  disposable_email: boolean;
  /** SIGNUP_HOURLY_CEILING was reached. */
  unusual_volume: boolean;
}

/** The columns that mark a suspicious entry. */
export const flags = ["suspected_spam", "disposable_email", "unusual_volume"] as const;

/** An SQL condition. */
export const isFlagged = `(${flags.join(" OR ")})`;

/** An SQL condition: an import that does not finish leaves entries that the next one removes. */
export const isFinal =
  "(import_id IS NULL OR import_id NOT IN (SELECT id FROM public.earlyaccess_imports WHERE finished_at IS NULL))";

/** What a sign-up brings; Postgres has defaults for the others. */
export const entryColumns = ["id", "name", "email", "company", "job_title", ...flags, ...sourceColumns].join(", ");

export type FieldErrors = Partial<Record<FieldName, string>>;

/** Text longer than this many times its limit is refused before it is normalised: NFC takes quadratic time for combining marks. */
const normalisedLength = 10;

function text({ name, required, maxLength }: Field) {
  return z
    .string(fieldErrors.notText)
    .max(normalisedLength * maxLength, fieldErrors.tooLong(maxLength))
    .transform((value) => value.trim().normalize("NFC"))
    .superRefine((value, context) => {
      if (value === "" && required) context.addIssue(fieldErrors.required[name]);
      else if (unstorable.test(value)) context.addIssue(fieldErrors.unstorable);
      else if (Array.from(value).length > maxLength) context.addIssue(fieldErrors.tooLong(maxLength));
    });
}

const atom = "[a-z\\d!#$%&'*+/=?^_`{|}~-]+";
const label = "[a-z\\d](?:[a-z\\d-]{0,61}[a-z\\d])?";
/** A mailbox as mail systems take it: RFC 5321's dot-string before the @, at most 64 long, and a domain with a top level. */
const mailbox = new RegExp(`^(?=.{1,64}@)${atom}(?:\\.${atom})*@(?:${label}\\.)+(?:[a-z]{2,63}|xn--[a-z\\d-]{1,59})$`);

/** Lower-cases the address and writes an international domain as mail systems do (münchen.de → xn--mnchen-3ya.de). */
function toMailbox(address: string): string {
  const at = address.lastIndexOf("@");
  const domain = address.slice(at + 1);
  // domainToASCII reads a URL's host: it would end at "/", "?" or "#", and decode "%".
  const international = /\P{ASCII}/u.test(domain) && !/[/\\?#%:@]/.test(domain);
  const ascii = international ? domainToASCII(domain) : domain;
  return `${address.slice(0, at + 1)}${ascii}`.toLowerCase();
}

function email(field: Field) {
  return text(field)
    .transform(toMailbox)
    .refine((address) => mailbox.test(address), fieldErrors.email)
    .refine((address) => address.length <= field.maxLength, fieldErrors.tooLong(field.maxLength));
}

const missing = (value: unknown) => value ?? "";
const field = (name: FieldName) => fields.find((candidate) => candidate.name === name) as Field;

const waitlistEntry = z.object({
  name: z.preprocess(missing, text(field("name"))),
  email: z.preprocess(missing, email(field("email"))),
  company: z.preprocess(missing, text(field("company"))),
  job_title: z.preprocess(missing, text(field("job_title"))).transform((value) => value || null),
});

/** The address as a sign-up stores it, undefined where none would be accepted. */
export function normaliseAddress(address: string): string | undefined {
  return waitlistEntry.shape.email.safeParse(address).data;
}

export type ParsedEntry = { ok: true; entry: WaitlistEntry } | { ok: false; errors: FieldErrors };

/**
 * Trims, normalises and checks; unknown keys are ignored. What looks like spam gets a flag and is never refused.
 * Errors hold the first complaint for every bad field.
 * @param page the address of the page that was signed up on.
 */
export function parseEntry(body: Record<string, unknown>, page?: string): ParsedEntry {
  const result = waitlistEntry.safeParse(body);
  if (result.success) {
    const suspected_spam = (body[honeypot] ?? "") !== "";
    const disposable_email = isDisposable(result.data.email);
    const marks = { suspected_spam, disposable_email, unusual_volume: false };
    return { ok: true, entry: { ...result.data, ...marks, ...readSource(body, page) } };
  }
  const errors: FieldErrors = {};
  for (const issue of result.error.issues) errors[issue.path[0] as FieldName] ??= issue.message;
  return { ok: false, errors };
}
