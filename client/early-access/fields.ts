// The form's fields, defined once: the browser renders them and the server validates by them.

export interface Field {
  name: FieldName;
  label: string;
  type: "text" | "email";
  required: boolean;
  /** In characters (Unicode code points); prisma/schema.prisma repeats it. Browsers count UTF-16 units, which are never fewer. */
  maxLength: number;
  autoComplete: string;
  inputMode: "text" | "email";
}

export type FieldName = "name" | "email" | "company" | "job_title";

/**
 * A field that people do not see and programs fill in. Nothing that browsers or password managers know to fill:
 * "website", which others use, is part of some people's saved identities.
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
  },
  // 254: the longest address that a mail server must accept (RFC 5321, 4.5.3.1.3, less the angle brackets).
  {
    name: "email",
    label: "Email",
    type: "email",
    required: true,
    maxLength: 254,
    autoComplete: "email",
    inputMode: "email",
  },
  {
    name: "company",
    label: "Company",
    type: "text",
    required: true,
    maxLength: 200,
    autoComplete: "organization",
    inputMode: "text",
  },
  {
    name: "job_title",
    label: "Job title (optional)",
    type: "text",
    required: false,
    maxLength: 100,
    autoComplete: "organization-title",
    inputMode: "text",
  },
];
