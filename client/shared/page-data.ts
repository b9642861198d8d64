// Types of the data that a page has beyond its path.
import type { FieldName } from "./fields.ts";

/** The failure of a form post without JavaScript. A page that shows it is never hydrated. */
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

export interface PageHead {
  title: string;
  description: string;
  /** True keeps the page out of search engines; it then has no canonical URL, social card or structured data. */
  unlisted: boolean;
}

/** Describes the page of a route. */
export interface PageHandle {
  status: number;
  head: PageHead;
}
