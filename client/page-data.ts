// What the server tells a page beyond its address.
import type { FieldName } from "./early-access/fields.ts";

/** How a form post without JavaScript failed; such a page is never hydrated. */
export interface FormFailure {
  status: number;
  errors: Partial<Record<FieldName, string>>;
  /** What the visitor typed; undefined on a page that is the same for everybody. */
  values?: Partial<Record<FieldName, string>> | undefined;
  /** Where the visitor came from, which the address of this page no longer says. */
  source?: Record<string, string | null>;
}

export interface PageHead {
  title: string;
  description: string;
  /** Left out of search engines, and without what is only for listed pages: canonical address, cards, structured data. */
  unlisted: boolean;
}

/**
 * When the browser runs React on a page: "near-form" when the form comes near or something in it is touched,
 * "after-load" once the page is there, "never" where plain HTML does everything.
 */
export type Hydration = "near-form" | "after-load" | "never";
