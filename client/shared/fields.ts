// The form's fields: the browser renders them, and the server validates entries against them.

export interface Field {
  name: FieldName;
  label: string;
  type: "text" | "email";
  required: boolean;
  /**
   * In Unicode code points; prisma/schema.prisma has the same limits. Browsers count UTF-16 code units, so they
   * never allow more.
   */
  maxLength: number;
  autoComplete: string;
  inputMode: "text" | "email";
  /** The label of a phone keyboard's Enter key. */
  enterKeyHint: "next" | "send";
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
    type: "text",
    required: true,
    maxLength: 100,
    autoComplete: "name",
    inputMode: "text",
    enterKeyHint: "next",
  },
  // 254: the longest address that a mail server must accept (RFC 5321, 4.5.3.1.3, without the angle brackets).
  {
    name: "email",
    label: "Email",
    type: "email",
    required: true,
    maxLength: 254,
    autoComplete: "email",
    inputMode: "email",
    enterKeyHint: "next",
  },
  {
    name: "company",
    label: "Company",
    type: "text",
    required: true,
    maxLength: 200,
    autoComplete: "organization",
    inputMode: "text",
    enterKeyHint: "next",
  },
  {
    name: "job_title",
    label: "Job title (optional)",
    type: "text",
    required: false,
    maxLength: 100,
    autoComplete: "organization-title",
    inputMode: "text",
    enterKeyHint: "send",
  },
];
