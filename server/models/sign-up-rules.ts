// The rules of a sign-up: the zod schema of its fields, and the honeypot.
import { z } from "zod";
import { fieldErrors } from "../../client/shared/content.ts";
import { cleanEmail, fields, honeypot, type Field, type FieldName } from "../../client/shared/fields.ts";
import { readSource, type Source, unstorableCharacters } from "./source.ts";

/** The form's fields, null if an optional one is empty; the source; and whether it is suspected spam. */
export interface WaitlistEntry extends Source, Record<FieldName, string | null> {
  /** Lower-cased, its domain in ASCII. */
  email: string;
  suspected_spam: boolean;
}

export interface SignUp extends WaitlistEntry {
  /** Id of the privacy notice that the form showed; null if the sign-up names none. */
  notice_id?: string | null;
  /** SHA-256 of the token that undoes the sign-up; bytes in Postgres' text format. */
  token_hash?: string | undefined;
}

type FieldErrors = Partial<Record<FieldName, string>>;

/** Text longer than this many times its limit is refused before it is normalised: NFC takes quadratic time for combining marks. */
const normalisedLength = 10;

/** Text that is copied from a spreadsheet or a text processor has tabs and vertical tabs. */
const cleanLine = (typed: string) => typed.replace(/[\t\v\f]/g, " ").trim();

/** The metadata is for docs/openapi.yaml, which states the limit of the normalised text. */
function text({ noun, type, required, maxLength }: Field) {
  const given = z
    .string({
      error: ({ input }) => (typeof (input ?? "") === "string" ? fieldErrors.required(noun) : fieldErrors.notText),
    })
    // max() would also run for an object with a length, such as {"length": {"valueOf": 1}}, and throw.
    .refine((value) => value.length <= normalisedLength * maxLength, fieldErrors.tooLong(maxLength))
    .meta({ ...(type === "email" && { format: type }), ...(required && { minLength: 1 }), maxLength });
  const clean = type === "email" ? cleanEmail : cleanLine;
  return (required ? given : given.nullish())
    .transform((value) => clean(value ?? "").normalize("NFC"))
    .superRefine((value, context) => {
      if (value === "" && required) context.addIssue(fieldErrors.required(noun));
      else if (unstorableCharacters.test(value)) context.addIssue(fieldErrors.unstorable);
      else if (Array.from(value).length > maxLength) context.addIssue(fieldErrors.tooLong(maxLength));
    });
}

const atom = "[a-z\\d!#$%&'*+/=?^_`{|}~-]+";
const label = "[a-z\\d](?:[a-z\\d-]{0,61}[a-z\\d])?";
/** A dot-string of at most 64 characters before the @ (RFC 5321), and a domain with a top-level domain. */
const mailbox = new RegExp(`^(?=.{1,64}@)${atom}(?:\\.${atom})*@(?:${label}\\.)+(?:[a-z]{2,63}|xn--[a-z\\d-]{1,59})$`);

function emailText(field: Field) {
  return text(field)
    .transform((email) => email.toLowerCase())
    .refine((email) => mailbox.test(email), fieldErrors.email);
}

function validate(field: Field) {
  const schema = field.type === "email" ? emailText(field) : text(field);
  return schema.transform((value) => value || null);
}

type FieldSchemas = Record<FieldName, ReturnType<typeof validate>>;
export const waitlistEntry = z.object(
  Object.fromEntries(fields.map((field) => [field.name, validate(field)])) as FieldSchemas,
);

/** Returns the address as a sign-up stores it, or undefined if a sign-up refuses it. */
export function normaliseEmail(email: string): string | undefined {
  return waitlistEntry.shape.email.safeParse(email).data ?? undefined;
}

export type ParsedEntry = { ok: true; entry: WaitlistEntry } | { ok: false; errors: FieldErrors };

/** Trims, normalises and validates the fields; ignores unknown keys. A suspicious entry gets a flag and is never refused. */
export function parseEntry(body: Record<string, unknown>, page?: string): ParsedEntry {
  const result = waitlistEntry.safeParse(body);
  if (result.success) {
    const email = result.data.email as string; // It is required.
    const suspected_spam = (body[honeypot] ?? "") !== "";
    return { ok: true, entry: { ...result.data, email, suspected_spam, ...readSource(body, page) } };
  }
  const errors: FieldErrors = {};
  for (const issue of result.error.issues) errors[issue.path[0] as FieldName] ??= issue.message;
  return { ok: false, errors };
}

/**
 * Returns the id that a sign-up names, or null. An id without a notice is stored, too: the web process cannot read which
 * notices earlier versions showed.
 */
export function readNoticeId(value: unknown): string | null {
  return typeof value === "string" && /^[\da-f]{32}$/.test(value) ? value : null;
}
