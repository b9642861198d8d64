// The failure of a form post without JavaScript, which the landing page shows. It is never hydrated.
import type { FieldName } from "./fields.ts";

export interface FormFailure {
  status: number;
  /** The sentence that says when the visitor may try again, if the server knows. */
  wait?: string | undefined;
  errors: Partial<Record<FieldName, string>>;
  /** The typed values; undefined on a page that is the same for everybody. */
  values?: Partial<Record<FieldName, string>> | undefined;
  /** The source of the sign-up, because the URL of this page lacks the campaign. */
  source?: Record<string, string | null>;
}
